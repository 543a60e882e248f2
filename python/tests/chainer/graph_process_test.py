"""Ends of processes."""

import os
import subprocess
import sys

import pytest

LEAVES_NOTHING = '''
from catenary import _core
_core._set_leak_warnings(True)
import chainer, cupy, numpy as np
import chainer.functions as F, chainer.links as L

class Cube(chainer.FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0,))
        return inputs[0] ** 3,
    def backward(self, indexes, grad_outputs):
        x, = self.get_retained_inputs()
        return 3 * x * x * grad_outputs[0],

class Hook(chainer.FunctionHook):
    name = 'mine'
    def forward_preprocess(self, function, in_data):
        pass

model = L.Classifier(chainer.Sequential(L.Linear(3, 4), lambda h: Cube().apply((h,))[0], L.BatchNormalization(4), F.dropout, L.Linear(4, 2)))
model.to_device(DEVICE)
optimizer = chainer.optimizers.Adam().setup(model)
optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))
batch = model.xp.ones((2, 3), 'f'), model.xp.zeros(2, 'i')
for _ in range(3):
    optimizer.update(model, *batch)
with Hook():
    optimizer.update(model, *batch)
y = F.sum(model.predictor(batch[0]), axis=1)
loop = Cube()
z, = loop.apply((y,))
loop.z = z.node
kept = [y, y.node, y.creator, y.array, chainer.grad([y], [model.predictor[0].W], enable_double_backprop=True), optimizer, loop]
stream = cupy.cuda.Stream.null
'''


def environment_of(place):
    return {**os.environ, **({'CATENARY_CUPY_CPU': '1'} if place == 'processor' else {})}


@pytest.mark.parametrize('place', ['numpy', 'device', 'processor'])
def test_at_the_end_of_a_process_nothing_is_left(place):
    code = LEAVES_NOTHING.replace('DEVICE', "'@numpy'" if place == 'numpy' else "'@cupy:0'")
    ran = subprocess.run([sys.executable, '-W', 'ignore', '-c', code], capture_output=True, text=True, env=environment_of(place))
    said = [line for line in ran.stderr.splitlines() if 'two Chainers are installed' not in line]
    assert ran.returncode == 0 and not said, ran.stderr


def test_cupy_on_the_processor_stays_cupys():
    code = '''
import chainer, cupy, numpy as np
import chainer.functions as F, chainer.links as L
model = L.Classifier(chainer.Sequential(L.Linear(3, 4), F.relu, L.Linear(4, 2)))
model.to_gpu()
o = chainer.optimizers.Adam().setup(model)
o.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))
o.update(model, cupy.ones((2, 3), 'f'), cupy.zeros(2, 'i'))
x, y = chainer.Variable(cupy.ones((2, 3), 'f')), chainer.Variable(np.ones((2, 3), 'f'))
print(type(model.loss.array) is cupy.ndarray, type(model.predictor[0].W.grad) is cupy.ndarray, type((x * 2 + x).array) is cupy.ndarray,
      type((y * 2 + y).array) is np.ndarray)'''
    ran = subprocess.run([sys.executable, '-W', 'ignore', '-c', code], capture_output=True, text=True, env=environment_of('processor'))
    assert ran.stdout == 'True True True True\n', ran.stderr
