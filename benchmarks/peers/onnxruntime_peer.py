"""Runs the benchmarks with ONNX Runtime on the CPU: inference of models that this script makes, with random weights. compare.py starts it."""

import work
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

generator = np.random.default_rng(0)


class Graph:
    """Builds a model: each method adds a node and returns the name of its result."""

    def __init__(self, shape):
        self.shape, self.nodes, self.weights = shape, [], []

    def weight(self, *shape):
        fan_in = max(int(np.prod(shape[1:])), 1)
        value = generator.uniform(-1, 1, shape).astype(np.float32) * fan_in**-0.5
        return self.constant(value)

    def constant(self, value):
        self.weights.append(numpy_helper.from_array(value, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def node(self, kind, *inputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def linear(self, x, inputs, outputs):
        return self.node("Gemm", x, self.weight(outputs, inputs), self.weight(outputs), transB=1)

    def convolution(self, x, inputs, outputs, size=3, stride=1, pad=0, bias=False):
        names = [self.weight(outputs, inputs, size, size)] + ([self.weight(outputs)] if bias else [])
        return self.node("Conv", x, *names, kernel_shape=[size, size], strides=[stride, stride], pads=[pad] * 4)

    def normalized(self, x, channels):
        one, zero = np.ones(channels, np.float32), np.zeros(channels, np.float32)
        return self.node("BatchNormalization", x, *map(self.constant, (one, zero, zero, one)))

    def session(self, result):
        graph = helper.make_graph(self.nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
                                  [helper.make_tensor_value_info(result, TensorProto.FLOAT, ["n", 10])], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = work.THREADS
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def mlp():
    graph = Graph((100, 784))
    h = graph.node("Relu", graph.linear("x", 784, 1000))
    h = graph.node("Relu", graph.linear(h, 1000, 1000))
    return graph, graph.linear(h, 1000, 10)


def cnn():
    graph = Graph((100, 1, 28, 28))
    h = graph.node("Relu", graph.convolution("x", 1, 32, bias=True))
    h = graph.node("Relu", graph.convolution(h, 32, 64, bias=True))
    h = graph.node("Flatten", graph.node("MaxPool", h, kernel_shape=[2, 2], strides=[2, 2]))
    h = graph.node("Relu", graph.linear(h, 9216, 128))
    return graph, graph.linear(h, 128, 10)


def resnet18():
    graph = Graph((32, 3, 32, 32))

    def convolved(x, *sizes, **more):
        return graph.normalized(graph.convolution(x, *sizes, **more), sizes[1])

    h = graph.node("Relu", convolved("x", 3, 64, pad=1))
    for inputs, outputs in ((64, 64), (64, 64), (64, 128), (128, 128), (128, 256), (256, 256), (256, 512), (512, 512)):
        stride = outputs // inputs
        shortcut = h if stride == 1 else convolved(h, inputs, outputs, 1, stride)
        h = graph.node("Relu", convolved(h, inputs, outputs, stride=stride, pad=1))
        h = graph.node("Relu", graph.node("Add", convolved(h, outputs, outputs, pad=1), shortcut))
    return graph, graph.linear(graph.node("Flatten", graph.node("GlobalAveragePool", h)), 512, 10)


def images():
    for row, make, runs, inner in (("C MLP inference", mlp, 15, 20), ("C CNN inference", cnn, 15, 1),
                                   ("C ResNet-18 inference", resnet18, 7, 1)):
        graph, result = make()
        session, x = graph.session(result), generator.random(graph.shape, np.float32)
        work.report("ONNX Runtime", row, work.seconds(lambda: session.run(None, {"x": x}), runs, 2, inner))


work.run({"C": images})
