#include "catenary/links/models/googlenet.h"

#include "catenary/functions/activation.h"
#include "catenary/functions/noise.h"
#include "catenary/functions/normalization.h"
#include "catenary/functions/pooling.h"
#include "catenary/initializers/initializers.h"

namespace catenary::links {

using functions::relu;

namespace {

Convolution2D conv(std::int64_t in, std::int64_t out, std::int64_t ksize, std::int64_t stride = 1,
                   std::int64_t pad = 0) {
  return {in, out, ksize, {.stride = stride, .pad = pad, .initialW = initializers::LeCunUniform()}};
}
Linear fc(std::int64_t in, std::int64_t out) { return {in, out, {.initialW = initializers::LeCunUniform()}}; }
Inception inception(std::int64_t in, std::int64_t out1, std::int64_t proj3, std::int64_t out3, std::int64_t proj5,
                    std::int64_t out5, std::int64_t proj_pool) {
  return {in, out1, proj3, out3, proj5, out5, proj_pool, {.conv_init = initializers::LeCunUniform()}};
}

Variable pool(const Variable& x) { return functions::max_pooling_2d(x, 3, {.stride = 2}); }
Variable normalized(const Variable& x) {
  return functions::local_response_normalization(x, {.n = 5, .k = 1, .alpha = 1e-4 / 5});
}
/// An auxiliary classifier.
auto end_of(const Convolution2D& conv, const Linear& fc1, const Linear& fc2) {
  return
      [&](const Variable& x) { return fc2(relu(fc1(relu(conv(functions::average_pooling_2d(x, 5, {.stride = 3})))))); };
}
template <class L>
auto result_of(const L& link) {
  return [&link](const Variable& x) { return link(x); };
}

}  // namespace

GoogLeNet::GoogLeNet()
    : conv1(conv(3, 64, 7, 2, 3)),
      conv2_reduce(conv(64, 64, 1)),
      conv2(conv(64, 192, 3, 1, 1)),
      inc3a(inception(192, 64, 96, 128, 16, 32, 32)),
      inc3b(inception(256, 128, 128, 192, 32, 96, 64)),
      inc4a(inception(480, 192, 96, 208, 16, 48, 64)),
      inc4b(inception(512, 160, 112, 224, 24, 64, 64)),
      inc4c(inception(512, 128, 128, 256, 24, 64, 64)),
      inc4d(inception(512, 112, 144, 288, 32, 64, 64)),
      inc4e(inception(528, 256, 160, 320, 32, 128, 128)),
      inc5a(inception(832, 256, 160, 320, 32, 128, 128)),
      inc5b(inception(832, 384, 192, 384, 48, 128, 128)),
      loss3_fc(fc(1024, 1000)),
      loss1_conv(conv(512, 128, 1)),
      loss1_fc1(fc(2048, 1024)),
      loss1_fc2(fc(1024, 1000)),
      loss2_conv(conv(528, 128, 1)),
      loss2_fc1(fc(2048, 1024)),
      loss2_fc2(fc(1024, 1000)) {}

std::vector<ImageClassifier::Layer> GoogLeNet::layers() const {
  return {{"conv1", [this](const Variable& x) { return relu(conv1(x)); }},
          {"pool1", [](const Variable& x) { return normalized(pool(x)); }},
          {"conv2_reduce", [this](const Variable& x) { return relu(conv2_reduce(x)); }},
          {"conv2", [this](const Variable& x) { return normalized(relu(conv2(x))); }},
          {"pool2", pool},
          {"inception_3a", result_of(inc3a)},
          {"inception_3b", result_of(inc3b)},
          {"pool3", pool},
          {"inception_4a", result_of(inc4a)},
          {"inception_4b", result_of(inc4b)},
          {"inception_4c", result_of(inc4c)},
          {"inception_4d", result_of(inc4d)},
          {"inception_4e", result_of(inc4e)},
          {"pool4", pool},
          {"inception_5a", result_of(inc5a)},
          {"inception_5b", result_of(inc5b)},
          {"pool5", [](const Variable& x) { return functions::average_pooling_2d(x, 7, {.stride = 1}); }},
          {"loss3_fc", [this](const Variable& x) { return loss3_fc(functions::dropout(x, 0.4)); }},
          {"prob", [](const Variable& x) { return functions::softmax(x); }},
          {"loss1_fc2", end_of(loss1_conv, loss1_fc1, loss1_fc2), "inception_4a"},
          {"loss2_fc2", end_of(loss2_conv, loss2_fc1, loss2_fc2), "inception_4d"}};
}

}  // namespace catenary::links
