"""Runs the benchmarks with PyTorch on several processes of this machine, by gloo: all-reduce, and an epoch of MNIST with its evaluation
by DistributedDataParallel.

torch_ranks_peer.py RANKS
"""

import os
import sys
import time

RANKS = int(sys.argv[1]) if len(sys.argv) > 1 else 2
os.environ.setdefault("PEER_THREADS", str(max(1, os.cpu_count() // RANKS)))

import work  # noqa: E402  (it sets the number of threads)
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.functional import cross_entropy  # noqa: E402


def all_reduce(rank, count):
    x = torch.ones(count)
    samples = []
    for i in range(11):
        dist.barrier()
        start = time.perf_counter()
        dist.all_reduce(x)
        if i:
            samples.append(time.perf_counter() - start)
        x.fill_(1)
    if rank == 0:
        work.report("PyTorch, gloo", f"M {count * 4e-6:g} MB", samples)


def epochs_of_mnist(rank):
    x, t, x_test, t_test = map(torch.from_numpy, work.mnist())
    net = nn.Sequential(nn.Linear(784, 1000), nn.ReLU(), nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 10))
    net = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.Adam(net.parameters(), fused=True)
    torch.set_flush_denormal(True)
    mine = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))[rank::RANKS]
    samples = []
    for _ in range(3):
        dist.barrier()
        start = time.perf_counter()
        order = mine[torch.randperm(len(mine))]
        for chosen in order.split(400):
            optimizer.zero_grad()
            cross_entropy(net(x[chosen]), t[chosen]).backward()
            optimizer.step()
        right = torch.zeros(())
        with torch.no_grad():
            for begin in range(400 * rank, len(x_test), 400 * RANKS):
                right += (net.module(x_test[begin:begin + 400]).argmax(1) == t_test[begin:begin + 400]).sum()
        dist.all_reduce(right)
        samples.append(time.perf_counter() - start)
    if rank == 0:
        work.report("PyTorch, DDP", "M MNIST", samples)


def main(rank):
    torch.set_num_threads(work.THREADS)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    all_reduce(rank, 1_800_000)
    all_reduce(rank, 25_000_000)
    epochs_of_mnist(rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(20000 + os.getpid() % 20000)
    torch.multiprocessing.spawn(main, nprocs=RANKS)
