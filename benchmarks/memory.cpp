// Runs two training steps with SGD and momentum on the CPU. Prints the peak memory of the process and of its arrays in
// MB, and the sum of squared gradients of the first step. bench_memory resnet18|resnet50 [forget]: ResNet-18 with a 3 ×
// 3 stem for 32 images of 3 × 32 × 32, or ResNet-50 for 8 of 3 × 224 × 224. With `forget`, backward recomputes blocks.
// benchmarks/peers/torch_memory.py measures PyTorch.

#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstring>

#include "catenary/catenary.h"

namespace ct = catenary;
namespace F = ct::functions;
namespace L = ct::links;

namespace {

template <class Block>
ct::Variable stages(const std::vector<const L::ResNetStage<Block>*>& all, ct::Variable h, bool forget) {
  for (const auto* stage : all)
    for (const Block& block : stage->blocks) {
      const auto call = [&block](const ct::Variable& x) { return block(x); };
      h = forget ? F::forget(call, h) : call(h);
    }
  return F::mean(h, {2, 3});
}

struct Small : ct::Chain {
  L::Convolution2D conv{3, 64, 3, {.pad = 1, .nobias = true}};
  L::BatchNormalization bn{64};
  L::ResNetStage<L::BasicBlock> stage1 = stage(64, 64), stage2 = stage(64, 128), stage3 = stage(128, 256),
                                stage4 = stage(256, 512);
  L::Linear fc{512, 10};
  bool forget = false;
  CT_LINKS(conv, bn, stage1, stage2, stage3, stage4, fc)
  ct::Variable operator()(const ct::Variable& x) const {
    return fc(stages<L::BasicBlock>({&stage1, &stage2, &stage3, &stage4}, F::relu(bn(conv(x))), forget));
  }

 private:
  static L::ResNetStage<L::BasicBlock> stage(std::int64_t in, std::int64_t out) {
    return L::ResNetStage<L::BasicBlock>({L::BasicBlock(in, out, in == out ? 1 : 2), L::BasicBlock(out, out)});
  }
};

struct Large : ct::Chain {
  L::ResNet50Layers net;
  bool forget = false;
  CT_LINKS(net)
  ct::Variable operator()(const ct::Variable& x) const {
    const ct::Variable h = F::max_pooling_2d(F::relu(net.bn1(net.conv1(x))), 3, {.stride = 2});
    return net.fc6(stages<L::Bottleneck>({&net.res2, &net.res3, &net.res4, &net.res5}, h, forget));
  }
};

template <class Net>
void run(Net net, bool forget, std::int64_t batch, std::int64_t side, int classes) {
  net.forget = forget;
  const ct::optimizers::MomentumSGD optimizer(0.01);
  optimizer.setup(net);
  const ct::Array x = ct::random::standard_normal({batch, 3, side, side}, {.dtype = ct::Dtype::float32}).eval(),
                  t = ct::random::randint(0, classes, {batch}).astype(ct::Dtype::int32).eval();
  double squares = 0;
  for (int step = 0; step < 2; ++step) {
    const ct::Variable loss = F::softmax_cross_entropy(net(x), t);
    net.cleargrads();
    loss.backward();
    if (step == 0)
      for (const ct::Parameter& p : net.params()) squares += ct::square(p.grad()).sum().template item<double>();
    optimizer.update();
    ct::evaluate();
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("peak {} MB, of arrays {} MB, gradients {:.9g}\n", usage.ru_maxrss / 1024,
             ct::memory_pool(ct::Device()).peak_bytes() >> 20, squares);
}

}  // namespace

int main(int argc, char** argv) {
  ct::random::seed(0);
  const bool forget = argc == 3 && std::strcmp(argv[2], "forget") == 0;
  if (argc < 2 || argc > 3 || (argc == 3 && !forget))
    return std::fputs("bench_memory resnet18|resnet50 [forget]\n", stderr), 2;
  if (std::strcmp(argv[1], "resnet18") == 0) {
    run(Small(), forget, 32, 32, 10);
  } else {
    run(Large(), forget, 8, 224, 1000);
  }
}
