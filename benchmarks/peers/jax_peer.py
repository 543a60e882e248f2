"""Runs the benchmarks with JAX on the CPU, compiled by jit. Every time includes waiting for the value. compare.py starts it."""

import time

import work
import numpy as np
import jax
import jax.numpy as jnp

generator = np.random.default_rng(0)
wait = jax.block_until_ready


def layer(inputs, outputs):
    bound = inputs**-0.5
    return (jnp.asarray(generator.uniform(-bound, bound, (inputs, outputs)), jnp.float32), jnp.zeros(outputs, jnp.float32))


def network(parameters, x):
    for w, b in parameters[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = parameters[-1]
    return x @ w + b


def loss_of(parameters, x, t, network=network):
    return -jnp.take_along_axis(jax.nn.log_softmax(network(parameters, x)), t[:, None], 1).mean()


def adam(parameters, state, x, t, network=network):
    first, second, step = state
    step = step + 1
    gradients = jax.grad(loss_of)(parameters, x, t, network)
    each = jax.tree.map
    first = each(lambda m, g: m + 0.1 * (g - m), first, gradients)
    second = each(lambda v, g: v + 0.001 * (g * g - v), second, gradients)
    rate = 0.001 * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    parameters = each(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), parameters, first, second)
    return parameters, (first, second, step)


def mnist():
    x, t, x_test, t_test = work.mnist()
    parameters = [layer(784, 1000), layer(1000, 1000), layer(1000, 10)]
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    state = (zeros, jax.tree.map(jnp.zeros_like, parameters), jnp.float32(0))
    update = jax.jit(adam, donate_argnums=(0, 1))
    classes = jax.jit(lambda parameters, x: network(parameters, x).argmax(1))
    wait((update(jax.tree.map(jnp.copy, parameters), jax.tree.map(jnp.copy, state), x[:100], t[:100]), classes(parameters, x_test[:100])))
    samples = []
    for _ in range(3):
        start = time.perf_counter()
        order = generator.permutation(len(x))
        for i in range(0, len(x), 100):
            chosen = order[i:i + 100]
            parameters, state = update(parameters, state, x[chosen], t[chosen])
        right = sum(int((np.asarray(classes(parameters, x_test[i:i + 100])) == t_test[i:i + 100]).sum()) for i in range(0, len(x_test), 100))
        samples.append(time.perf_counter() - start)
    assert right > 9500, right
    work.report("JAX", "A", [sum(samples) / len(samples)])


def convolution(parameters, x):
    w, b = parameters
    return jax.nn.relu(jax.lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")) + b)


def cnn(parameters, x):
    h = convolution(parameters[1], convolution(parameters[0], x))
    h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return network(parameters[2:], h.reshape(len(h), -1))


def images():
    def filters(inputs, outputs):
        w, b = layer(9 * inputs, outputs)
        return w.reshape(3, 3, inputs, outputs), b

    parameters = [filters(1, 32), filters(32, 64), layer(9216, 128), layer(128, 10)]
    x, t = jnp.asarray(generator.random((100, 28, 28, 1)), jnp.float32), jnp.asarray(generator.integers(0, 10, 100))
    forward = jax.jit(cnn)
    work.report("JAX", "C CNN inference", work.seconds(lambda: wait(forward(parameters, x)), 15, 2))
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    now = [parameters, (zeros, jax.tree.map(jnp.copy, zeros), jnp.float32(0))]
    update = jax.jit(lambda parameters, state, x, t: adam(parameters, state, x, t, cnn), donate_argnums=(0, 1))

    def step():
        now[:] = wait(update(*now, x, t))

    work.report("JAX", "C CNN step", work.seconds(step, 7, 2))


def chain():
    x = jnp.asarray(generator.standard_normal(work.CHAIN), jnp.float32)
    formula = jax.jit(lambda x: jax.nn.relu(x * 1.5 + 0.5) * jax.nn.sigmoid(x) + jnp.tanh(x))
    work.report("JAX", "E", work.seconds(lambda: wait(formula(x)), warm=2))


def products():
    for m, n, k in work.PRODUCTS:
        a, b = (jnp.asarray(generator.random(shape), jnp.float32) for shape in ((m, k), (k, n)))
        work.report("JAX", f"F {m}x{n}x{k}", work.gflops(work.seconds(lambda: wait(a @ b), 15, 3), m, n, k))


def small():
    a, b = jnp.ones(10), jnp.ones(10)
    add = work.seconds(lambda: wait(a + b), inner=5000)
    work.report("JAX", "G deferred", add)
    work.report("JAX", "G computed", add)
    parameters = [layer(10, 10) for _ in range(10)]
    x = jnp.asarray(generator.standard_normal((10, 10)), jnp.float32)

    def total(parameters):
        h = x
        for w, b in parameters:
            h = jnp.tanh(h @ w + b)
        return h.sum()

    gradients = jax.jit(jax.grad(total))
    work.report("JAX", "G ten layers", work.seconds(lambda: wait(gradients(parameters)), inner=200))


work.run({"A": mnist, "C": images, "E": chain, "F": products, "G": small})
