// Links with quantised weights: compared with links that hold the dequantised weights, in files, copies and training.

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/reduction.h"
#include "catenary/core/config.h"
#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/functions/functions.h"
#include "catenary/io/npz.h"
#include "catenary/io/safetensors.h"
#include "catenary/links/connection.h"
#include "catenary/links/convolution.h"
#include "catenary/links/normalization.h"
#include "catenary/links/quantize.h"
#include "catenary/optimizers/optimizers.h"
#include "catenary/serializers/serializer.h"
#include "tests/folder.h"
#include "tests/gradients.h"
#include "tests/links/helpers.h"
#include "tests/texts.h"

namespace catenary {
namespace {

namespace F = functions;
namespace L = links;
using test::given;
using test::numbers;
using tests::error_of;
using tests::expect_near;

struct QuantizedNet : Chain {
  L::EmbedID embed{11, 40};
  L::Convolution2D conv{3, 6, 3};
  L::BatchNormalization bn{6};
  L::Linear fc{96, 40}, last{40, 5, {.nobias = true}};
  CT_LINKS(embed, conv, bn, fc, last)
  Variable operator()(const Variable& x, const Variable& ids) const {
    const Variable h = F::relu(bn(conv(x)));
    return last(F::relu(fc(h)) + embed(ids));
  }
};

Variable small_images() { return given({2, 3, 6, 6}, 3); }
Variable ids() { return Variable(arange(2, Dtype::int32) * 7, false); }

/// The net with dequantised weights as parameters.
QuantizedNet restored(const QuantizedNet& net) {
  QuantizedNet plain;
  const auto restore = [](auto& to, const auto& from) { to.W = Parameter(dequantize(*from.quantized()), "W"); };
  restore(plain.embed, net.embed), restore(plain.conv, net.conv);
  restore(plain.fc, net.fc), restore(plain.last, net.last);
  plain.conv.b = net.conv.b, plain.fc.b = net.fc.b;
  return plain;
}

TEST(QuantizedLinks, ComputeWithWhatTheBlocksStandFor) {
  const auto mode = test_mode();
  for (const Quantization kind : kAllQuantizations) {
    QuantizedNet net;
    const auto told = L::quantize(net, kind);
    ASSERT_EQ(told.size(), 4u);
    EXPECT_EQ(told[0].path, "/embed");
    EXPECT_EQ(told[1].shape, (Shape{6, 3, 3, 3}));
    const QuantizedNet plain = restored(net);
    expect_near(net(small_images(), ids()).array(), plain(small_images(), ids()).array(), 1e-4);
    const Variable x = given({40, 3, 6, 6}, 5), many = Variable(arange(40, Dtype::int32) % 11, false);
    expect_near(net(x, many).array(), plain(x, many).array(), 1e-4);
    expect_near(net.embed.scores(given({3, 40})).array(), plain.embed.scores(given({3, 40})).array(), 1e-3);
    EXPECT_FALSE(net.fc.W.defined());
    EXPECT_TRUE(net.fc.b.defined());
    EXPECT_EQ(net.params().size(), 4u);  // two biases, gamma and beta
  }
}

TEST(QuantizedLinks, GradientsOfWhatTheyAreGiven) {
  for (const Quantization kind : {Quantization::q8_0, Quantization::q4_k}) {
    L::Linear fc(40, 6);
    fc.quantize(kind);
    const Array b = numbers({6}, 2);
    fc.b = Parameter(b, "b");
    const gradient_check::CheckOptions options = {.eps = 0.01, .atol = 1e-2, .rtol = 1e-2};
    tests::check_gradients([&](const std::vector<Variable>& x) { return std::vector<Variable>{F::square(fc(x[0]))}; },
                           {numbers({3, 40})}, options);
    fc.cleargrads();
    // gradients equal those for dequantised weights
    const Variable x(numbers({3, 2, 40})), W(dequantize(*fc.quantized()), false), other(numbers({3, 2, 40})), bias2(b);
    F::sum(F::square(fc(x, -1))).backward();
    F::sum(F::square(F::linear(other, W, bias2, -1))).backward();
    expect_near(x.grad(), other.grad(), 1e-2);
    expect_near(fc.b.grad(), bias2.grad(), 1e-3);
    // forget() computes it again
    const Variable again(numbers({3, 2, 40}));
    F::sum(F::forget([&](const Variable& v) { return F::square(fc(v, -1)); }, again)).backward();
    EXPECT_TRUE(again.grad().defined());
  }
}

TEST(QuantizedLinks, LayersBelowAreTrained) {
  struct Two : Chain {
    L::Linear below{20, 32}, above{32, 5};
    CT_LINKS(below, above)
    Variable operator()(const Variable& x) const { return above(F::tanh(below(x))); }
  };
  Two net;
  net.above.quantize(Quantization::q8_0);
  const Array blocks = net.above.quantized()->blocks().copy();
  const optimizers::Adam optimizer(0.01);
  optimizer.setup(net);
  const Variable labels(arange(8, Dtype::int32) % 5, false);
  double first = 0, last = 0;
  for (int i = 0; i < 30; ++i) {
    const Variable loss = F::softmax_cross_entropy(net(given({8, 20})), labels);
    last = loss.array().astype(Dtype::float64).item<double>();
    if (i == 0) first = last;
    net.cleargrads();
    loss.backward();
    optimizer.update();
  }
  EXPECT_LT(last, first / 2);
  EXPECT_EQ(net.above.quantized()->blocks().to_vector<std::uint8_t>(), blocks.to_vector<std::uint8_t>());
}

TEST(QuantizedLinks, FilesHaveTheBlocks) {
  const auto mode = test_mode();
  const tests::Folder folder;
  for (const Quantization kind : kAllQuantizations) {
    QuantizedNet net;
    L::quantize(net, kind, {.keep = {"conv"}});
    EXPECT_FALSE(net.conv.quantized());
    serializers::save_npz(folder / "net.npz", net);
    serializers::save_safetensors(folder / "net.safetensors", net);
    EXPECT_EQ(io::NpzReader(folder / "net.npz").read_array("fc/W_blocks").dtype, Dtype::uint8);
    const Array y = net(small_images(), ids()).array();
    QuantizedNet plain, same_kind, another;
    L::quantize(same_kind, kind, {.keep = {"conv"}});
    L::quantize(another, kind == Quantization::q4_0 ? Quantization::q8_0 : Quantization::q4_0, {.keep = {"conv"}});
    for (QuantizedNet* const into : {&plain, &same_kind}) {
      serializers::load_npz(folder / "net.npz", *into);
      EXPECT_EQ(into->fc.quantized()->kind(), kind);
      EXPECT_FALSE(into->fc.W.defined());
      expect_near((*into)(small_images(), ids()).array(), y, 0);
    }
    QuantizedNet fresh;
    serializers::load_safetensors(folder / "net.safetensors", fresh);
    expect_near(fresh(small_images(), ids()).array(), y, 0);
    // blocks of other sizes: nothing changes
    const Array before = another(small_images(), ids()).array();
    EXPECT_THROW(serializers::load_npz(folder / "net.npz", another), Error);
    expect_near(another(small_images(), ids()).array(), before, 0);
    // a file with parameters does not fit
    serializers::save_npz(folder / "plain.npz", QuantizedNet());
    EXPECT_THROW(serializers::load_npz(folder / "plain.npz", net), FileError);
    expect_near(net(small_images(), ids()).array(), y, 0);
  }
}

// The device on which a net is quantised, saved and loaded changes no bit of its blocks, values or files.
TEST(QuantizedLinks, AFileOfOneDeviceHasTheSameBitsOnTheOthers) {
  const auto mode = test_mode();
  const tests::Folder folder;
  const auto quantised_on = [](const Device& device, const QuantizedNet& net, Quantization kind) {
    QuantizedNet copy = net.copy(CopyMode::copy);
    copy.to_device(device);
    L::quantize(copy, kind);
    return copy;
  };
  const auto weights_of = [](const QuantizedNet& net) {
    std::vector<std::shared_ptr<const QuantizedArray>> all;
    net.for_each_link([&](const std::string&, const Link& link) {
      if (const auto* const of = dynamic_cast<const L::QuantizableW*>(&link)) all.push_back(of->quantized());
    });
    return all;
  };
  const QuantizedNet net;
  for (const Quantization kind : kAllQuantizations) {
    SCOPED_TRACE(quantization_info(kind).name);
    const QuantizedNet here = quantised_on(current_device(), net, kind), there = quantised_on(Device(), net, kind);
    serializers::save_npz(folder / "here.npz", here);
    serializers::save_npz(folder / "there.npz", there);
    serializers::save_safetensors(folder / "here.safetensors", here);
    serializers::save_safetensors(folder / "there.safetensors", there);
    for (const std::string form : {".npz", ".safetensors"})
      EXPECT_EQ(os::read_file(folder / ("here" + form)), os::read_file(folder / ("there" + form))) << form;

    QuantizedNet of_there, of_here;
    of_here.to_device(Device());
    serializers::load_npz(folder / "there.npz", of_there);
    serializers::load_safetensors(folder / "here.safetensors", of_here);
    const auto loaded = weights_of(of_there), loaded_there = weights_of(of_here), own = weights_of(there);
    ASSERT_EQ(own.size(), 4u);
    for (std::size_t i = 0; i < own.size(); ++i) {
      ASSERT_TRUE(loaded[i] && loaded_there[i]);
      EXPECT_EQ(loaded[i]->device(), current_device());
      EXPECT_EQ(loaded_there[i]->device(), Device());
      EXPECT_EQ(loaded[i]->blocks().to_vector<std::uint8_t>(), own[i]->blocks().to_vector<std::uint8_t>());
      expect_near(dequantize(*loaded[i]), dequantize(*own[i]), 0);
      expect_near(dequantize(*loaded_there[i]), dequantize(*own[i]), 0);
    }
  }
}

TEST(QuantizedLinks, FilesOfAnotherKindOrShapeAreRefused) {
  const tests::Folder folder;
  struct One : Chain {
    explicit One(std::int64_t in = 256, std::int64_t out = 4) : fc(in, out, {.nobias = true}) {}
    L::Linear fc;
    CT_LINKS(fc)
  };
  One there;
  there.fc.quantize(Quantization::q4_k);
  serializers::save_npz(folder / "there.npz", there);
  serializers::save_safetensors(folder / "there.safetensors", there);
  // Q4_0 blocks have equal size
  One here;
  here.fc.quantize(Quantization::q4_0);
  const Array before = here.fc(given({2, 256})).array().copy();
  for (const auto& load :
       {std::function<void(One&)>([&](One& one) { serializers::load_npz(folder / "there.npz", one); }),
        std::function<void(One&)>(
            [&](One& one) { serializers::load_safetensors(folder / "there.safetensors", one); })}) {
    EXPECT_THROW(load(here), FileError);
    expect_near(here.fc(given({2, 256})).array(), before, 0);
    One narrow(255), tall(256, 5);
    EXPECT_THROW(load(narrow), FileError);
    EXPECT_THROW(load(tall), FileError);
    EXPECT_TRUE(narrow.fc.W.defined());
    One fits;
    load(fits);
    load(fits);  // of the same kind, over existing values
    expect_near(fits.fc(given({2, 256})).array(), there.fc(given({2, 256})).array(), 0);
  }
}

// Inconsistent entries of a file are refused when loading, with the names of file and entry.
TEST(QuantizedLinks, BlocksThatDoNotFitTheirKindAreRefused) {
  struct One : Chain {
    L::Linear fc{40, 6, {.nobias = true}};
    CT_LINKS(fc)
  };
  const tests::Folder folder;
  const auto host_of = [](const Array& a) {
    io::HostArray host = io::HostArray::empty(a.dtype(), a.shape());
    a.copy_to_host(host.data.get());
    return host;
  };
  const auto integers = [&](const std::vector<std::int64_t>& all, Dtype dtype = Dtype::int64) {
    return host_of(Array::from_host(all.data(), {std::ssize(all)}, Dtype::int64, Device()).astype(dtype));
  };
  const auto blocks_of = [&](const Shape& shape, Dtype dtype = Dtype::uint8) {
    return host_of(zeros(shape, dtype).to_device(Device()));
  };
  const std::int64_t huge = std::int64_t{1} << 62;
  struct Case {
    io::HostArray blocks, kind;
    const char *entry, *said;  // null: accepted
  };
  const Case cases[] = {
      {blocks_of({6, 68}), integers({0, 6, 40}), nullptr, nullptr},
      {blocks_of({6, 36}), integers({1, 6, 40}, Dtype::int16), nullptr, nullptr},
      {blocks_of({6, 67}), integers({0, 6, 40}), "W_blocks",
       "Q8_0 for weights of (6, 40) are uint8 of (6, 68), not uint8 of (6, 67)"},
      {blocks_of({5, 68}), integers({0, 6, 40}), "W_blocks", "not uint8 of (5, 68)"},
      {blocks_of({408}), integers({0, 6, 40}), "W_blocks", "not uint8 of (408,)"},
      {blocks_of({6, 0}), integers({0, 6, 40}), "W_blocks", "not uint8 of (6, 0)"},
      {blocks_of({6, 68}, Dtype::int8), integers({0, 6, 40}), "W_blocks", "not int8 of (6, 68)"},
      {blocks_of({6, 68}, Dtype::float32), integers({0, 6, 40}), "W_blocks", "not float32 of (6, 68)"},
      {blocks_of({6, 68}), integers({1, 6, 40}), "W_blocks", "Q4_0 for weights of (6, 40) are uint8 of (6, 36)"},
      {blocks_of({6, 68}), integers({99, 6, 40}), "W_kind", "not a known kind of quantised weights: 99, 6, 40"},
      {blocks_of({6, 68}), integers({-1, 6, 40}), "W_kind", "not a known kind of quantised weights: -1, 6, 40"},
      {blocks_of({6, 68}), integers({}), "W_kind", ""},
      {blocks_of({6, 68}), integers({0}), "W_kind", ""},
      {blocks_of({6, 68}), integers({0, 6, 41}), "W_kind", "have shape (6, 41), the parameter (6, 40)"},
      {blocks_of({6, 68}), integers({0, -6, -40}), "W_kind", ""},
      {blocks_of({6, 68}), integers({0, huge, 4}), "W_kind", ""},
      {blocks_of({6, 68}), integers({0, 6, huge, huge}), "W_kind", "there is no shape (6, "},
      {blocks_of({6, 68}), integers({0, 6, 40}, Dtype::float32), "W_kind", "expected whole numbers"},
      {blocks_of({6, 68}), integers({0, 6, 40}, Dtype::complex64), "W_kind", "expected whole numbers"},
  };
  for (const bool npz : {true, false})
    for (const bool there : {false, true})
      for (const Case& c : cases) {
        const std::string file = folder / "net";
        const std::string slash = npz ? "/" : ".";
        const std::vector<std::pair<std::string, io::HostArray>> entries = {{"fc" + slash + "W_blocks", c.blocks},
                                                                            {"fc" + slash + "W_kind", c.kind}};
        if (!npz && is_complex(c.kind.dtype)) continue;
        if (npz) {
          io::NpzWriter writer(file);
          for (const auto& [name, value] : entries) writer.write(name, value);
          writer.finish();
        } else {
          io::write_safetensors(file, entries);
        }
        One net;
        if (there) net.fc.quantize(Quantization::q8_0);
        const Array before = net.fc(given({2, 40})).array().copy();
        std::string said;
        try {
          npz ? serializers::load_npz(file, net) : serializers::load_safetensors(file, net);
        } catch (const Error& error) {
          said = error.what();
        }
        if (!c.entry && (!there || c.kind.dtype == Dtype::int64)) {
          EXPECT_EQ(said, "");
          EXPECT_EQ(max(absolute(net.fc(given({2, 40})).array())).item<float>(), 0);
          continue;
        }
        EXPECT_NE(said.find(file), std::string::npos) << said;
        if (c.entry && !there) {
          EXPECT_NE(said.find("fc" + slash + c.entry), std::string::npos) << said;
          EXPECT_NE(said.find(c.said), std::string::npos) << said;
        }
        expect_near(net.fc(given({2, 40})).array(), before, 0);
      }

  // weights of unknown shape
  const auto late = [&](const std::vector<std::int64_t>& kind) {
    struct Late : Chain {
      L::Linear fc{6, {.nobias = true}};
      CT_LINKS(fc)
    } net;
    io::write_safetensors(folder / "late", {{"fc.W_blocks", blocks_of({6, 68})}, {"fc.W_kind", integers(kind)}});
    try {
      serializers::load_safetensors(folder / "late", net);
    } catch (const FileError& error) {
      return std::string(error.what());
    }
    return std::string("taken as ") + net.fc.quantized()->shape().str();
  };
  EXPECT_EQ(late({0, 6, 40}), "taken as (6, 40)");
  EXPECT_EQ(late({0, 6, 4, 10}), "taken as (6, 4, 10)");
  for (const std::vector<std::int64_t>& kind : {std::vector<std::int64_t>{0, 6, 70},
                                                {0, 6, -40},
                                                {0, -6, 40},
                                                {0, 6, huge, 4},
                                                {0, 6, huge, 0, huge},
                                                {0},
                                                {},
                                                {9, 6, 40}})
    EXPECT_NE(late(kind).find("fc.W_"), std::string::npos) << late(kind);
}

TEST(QuantizedLinks, AreSmaller) {
  const tests::Folder folder;
  const auto size = [&](std::optional<Quantization> kind) {
    L::Linear fc(1024, 1024, {.nobias = true});
    if (kind) fc.quantize(*kind);
    serializers::save_safetensors(folder / "fc", fc);
    const auto memory = static_cast<double>(kind ? fc.quantized()->nbytes() : fc.W.array().nbytes());
    return std::pair(memory, static_cast<double>(os::read_file(folder / "fc").size()));
  };
  const auto [memory, file] = size({});
  for (const Quantization kind : kAllQuantizations) {
    const double times = 0.95 * 32 / quantization_info(kind).bits_per_element();
    const auto [smaller, smaller_file] = size(kind);
    EXPECT_GE(memory / smaller, times) << quantization_info(kind).name;
    EXPECT_GE(file / smaller_file, times) << quantization_info(kind).name;
  }
}

TEST(QuantizedLinks, CopiesAndDevices) {
  const auto mode = test_mode();
  QuantizedNet net;
  L::quantize(net, Quantization::q8_0);
  const Array y = net(small_images(), ids()).array();
  const QuantizedNet shared = net, copy = net.copy(CopyMode::copy);
  expect_near(shared(small_images(), ids()).array(), y, 0);
  expect_near(copy(small_images(), ids()).array(), y, 0);
  EXPECT_FALSE(copy.fc.quantized()->blocks().shares_memory(net.fc.quantized()->blocks()));
  net.to_device(Device());
  EXPECT_EQ(net.fc.quantized()->device(), Device());
  EXPECT_EQ(shared.fc.quantized()->device(), Device());
  net.to_device(current_device());
  expect_near(net(small_images(), ids()).array(), y, 0);
  // changes of a copy do not affect the original
  QuantizedNet other = net;
  other.fc.set_quantized(quantize(numbers({40, 96}), Quantization::q8_0));
  EXPECT_EQ(net.count_params(), other.count_params());
}

TEST(QuantizedLinks, CopiesMadeBeforeHaveTheBlocksToo) {
  const auto mode = test_mode();
  const QuantizedNet net;
  QuantizedNet shared = net, loaded = net.copy(CopyMode::copy);
  const QuantizedNet of_loaded = loaded;
  L::quantize(shared, Quantization::q8_0);
  EXPECT_EQ(net.params().size(), 4u);
  EXPECT_FALSE(net.fc.W.defined());
  expect_near(net(small_images(), ids()).array(), shared(small_images(), ids()).array(), 0);
  const tests::Folder folder;
  serializers::save_npz(folder / "net.npz", net);
  EXPECT_FALSE(io::NpzReader(folder / "net.npz").contains("fc/W"));
  serializers::load_npz(folder / "net.npz", loaded);
  EXPECT_EQ(of_loaded.params().size(), 4u);
}

TEST(QuantizedLinks, TiedWeightsStayTied) {
  struct Tied : Chain {
    L::Linear a{32, 32}, b{32, 32}, c{32, 32};
    CT_LINKS(a, b, c)
    Tied() { b.W = a.W; }
  };
  Tied by_hand;
  const auto told = L::quantize(by_hand, Quantization::q8_0);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].path, "/a");
  EXPECT_EQ(told[1].path, "/c");
  EXPECT_TRUE(by_hand.a.quantized()->blocks().shares_memory(by_hand.b.quantized()->blocks()));
  Tied kept;
  EXPECT_EQ(L::quantize(kept, Quantization::q8_0, {.keep = {"/b"}}).size(), 1u);
  EXPECT_TRUE(kept.a.W.defined() && kept.b.W.is(kept.a.W) && !kept.c.W.defined());
}

TEST(QuantizedLinks, RefuseWhatFloatsDo) {
  L::Linear fc(40, 6);
  fc.quantize(Quantization::q8_0);
  EXPECT_THROW(fc(given({3, 40}), 0), ValueError);
  fc.cleargrads();  // a bias has the dtype of its file
  const Variable x(numbers({3, 40}).astype(Dtype::float16));
  F::sum(fc(x)).backward();
  EXPECT_EQ(fc.b.grad().dtype(), Dtype::float32);
  expect_near(fc.b.grad(), full({6}, 3, Dtype::float32), 0);
}

// More weights than are dequantised at a time: groups must still see only their channels.
TEST(QuantizedLinks, GroupsOfManyWeights) {
  const auto mode = no_backprop_mode();
  L::Convolution2D conv(1024, 1024, 1, {.nobias = true, .groups = 2});
  conv.quantize(Quantization::int8);
  const Variable x = given({1, 1024, 2, 2});
  const Array want = F::convolution_nd(x, Variable(dequantize(*conv.quantized()), false), {.groups = 2}).array();
  expect_near(conv(x).array(), want, 1e-4);
  conv.set_input_range({-1, 1});
  expect_near(conv(x).array(), want, 0.2);
}

TEST(QuantizedLinks, QuantisedWeightsStayAndZerosLoseNothing) {
  QuantizedNet net;
  net.fc.W.array().fill(0);
  for (const L::QuantizedWeight& w : L::quantize(net, Quantization::q8_0))
    EXPECT_EQ(w.error == 0, w.path == "/fc") << w.path << w.error;
  EXPECT_TRUE(L::quantize(net, Quantization::q4_0).empty());
  EXPECT_EQ(net.fc.quantized()->kind(), Quantization::q8_0);
}

// Rows of 256 have equal sizes in Q4_0 and Q4_K.
TEST(QuantizedLinks, CopiedParametersBringTheirKind) {
  L::Linear from(256, 5), to(256, 5);
  from.quantize(Quantization::q4_k);
  to.quantize(Quantization::q4_0);
  const Variable x(ones({2, 256}, Dtype::float32), false);
  to(x);
  to.copyparams(from);
  EXPECT_EQ(to.quantized()->kind(), Quantization::q4_k);
  EXPECT_TRUE((to(x).array() == from(x).array()).all());
}

TEST(QuantizedLinks, ErrorsNameTheFault) {
  const auto has = [](const std::string& text, const std::string& words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  L::Linear late(5);
  has(error_of([&] { late.quantize(Quantization::q8_0); }),
      "Linear: W must be initialised before it is quantised; call the link once");
  L::Linear fc(40, 6);
  has(error_of([&] { fc.set_quantized(quantize(numbers({6, 41}), Quantization::q8_0)); }), "(6, 40), not (6, 41)");
  has(error_of([&] { late.set_quantized(quantize(numbers({6, 41}), Quantization::q8_0)); }), "(5, 41), not (6, 41)");
  fc.quantize(Quantization::q8_0);
  has(error_of([&] { fc(given({2, 39})); }), "x must be (..., 40)");
  L::EmbedID embed(7, 40);
  has(error_of([&] { embed.set_quantized(quantize(numbers({8, 40}), Quantization::q8_0)); }), "(7, 40), not (8, 40)");
  L::Convolution2D conv(3, 6, 3);
  has(error_of([&] {
        conv.set_quantized(quantize(numbers({6, 3, 3, 2}), Quantization::q8_0));
      }),
      "(6, 3, 3, 3), not (6, 3, 3, 2)");
  // nothing has changed if one of the weights cannot be quantised
  struct Pair : Chain {
    L::Linear first{40, 6}, second{6, 5};
    CT_LINKS(first, second)
  } pair;
  pair.second.W = Parameter(full({5, 6}, 1e38, Dtype::float32), "W");
  has(error_of([&] { L::quantize(pair, Quantization::q4_0); }), "too large");
  EXPECT_TRUE(pair.first.W.defined());
  has(error_of([&] { L::quantize(pair, Quantization::q4_0, {.keep = {"("}}); }), "not a regular expression");
}

TEST(QuantizedLinks, IgnoredIdsAreZeros) {
  L::EmbedID embed(7, 40, {.ignore_label = -1});
  const Variable some(Array::from_host(std::vector<std::int64_t>{3, -1, 0}.data(), {3}, Dtype::int64), false);
  embed.quantize(Quantization::q6_k);
  const Array y = embed(some).array();
  EXPECT_EQ(y.shape(), (Shape{3, 40}));
  const auto largest = [](const Array& row) { return max(absolute(row)).item<float>(); };
  EXPECT_EQ(largest(y[1]), 0);
  EXPECT_GT(largest(y[0]), 0);
  const auto scope = using_config(config.dtype, Dtype::bfloat16);
  EXPECT_EQ(embed(some).dtype(), Dtype::bfloat16);
}

}  // namespace
}  // namespace catenary
