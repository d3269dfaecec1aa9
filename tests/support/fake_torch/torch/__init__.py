"""A PyTorch that computes nothing, so that the measuring scripts can be run without a GPU: whatever is timed takes half a second by its events.

FAKE_TORCH: what goes wrong: `no gpu`, `no memory` (every second tensor), `no kernel` (of attention), `device lost`.
"""

import itertools
import os

from . import nn

__version__ = '0.0-fake'
bfloat16, float32, int32 = 'bfloat16', 'float32', 'int32'
trouble = os.environ.get('FAKE_TORCH', '')
made = itertools.count()


class OutOfMemoryError(RuntimeError):
    pass


class Tensor:
    """Any method gives another tensor; shapes are preserved where the scripts ask for them."""

    def __init__(self, shape=(1, 1, 64)):
        self.shape, self.dtype, self.device, self.grad = shape, bfloat16, 'cuda', None

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return lambda *_, **__: Tensor(self.shape)

    def split(self, sizes, dim):
        assert dim == -1 and sum(sizes) > 0
        return [Tensor(self.shape) for _ in sizes]

    def chunk(self, count, dim):
        assert dim == -1
        return [Tensor(self.shape) for _ in range(count)]

    def __getitem__(self, _):
        return Tensor(self.shape)

    def same(self, *_):
        return Tensor(self.shape)

    __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = __truediv__ = __neg__ = __rpow__ = same


def tensor(*shape, **_):
    if trouble == 'no memory' and next(made) % 2 == 1:
        raise OutOfMemoryError('CUDA out of memory. Tried to allocate 1.00 GiB')
    if trouble == 'device lost' and next(made) == 5:
        raise RuntimeError('CUDA error: an illegal memory access was encountered')
    return Tensor(shape)


randn = empty = tensor


def mm(left, _right, out):
    assert left.shape and out.shape


def _grouped_mm(inputs, _weights, offs):
    assert inputs.shape and offs.shape
    if trouble == 'no kernel':
        raise RuntimeError('No available kernel. Aborting execution.')


def randint(_most, shape, **_):
    return Tensor(shape)


def randn_like(other):
    return Tensor(other.shape)


def zeros_like(other, **_):
    return Tensor(other.shape)


def arange(*_, **__):
    return Tensor()


def stack(tensors, dim):
    assert dim == -1
    return tensors[0]


class no_grad:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def _foreach_copy_(to, source):
    assert len(to) == len(source)


def _foreach_zero_(tensors):
    assert tensors


class autograd:
    @staticmethod
    def grad(_result, inputs, _gradient, retain_graph):
        assert retain_graph and inputs


class optim:
    class AdamW:
        def __init__(self, parameters, lr, fused):
            assert parameters and fused and lr > 0

        def step(self):
            pass


class version:
    cuda = '0.0'


class backends:
    class cudnn:
        @staticmethod
        def version():
            return 0


class cuda:
    class Stream:
        def wait_stream(self, other):
            assert isinstance(other, cuda.Stream)

    class CUDAGraph:
        def __init__(self):
            self.captured = False

        def replay(self):
            assert self.captured

    class stream(no_grad):  # a context
        def __init__(self, stream):
            assert isinstance(stream, cuda.Stream)

    class graph(no_grad):  # a context
        def __init__(self, graph, stream):
            assert isinstance(stream, cuda.Stream)
            graph.captured = True

    @staticmethod
    def current_stream():
        return cuda.Stream()

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            pass

        def synchronize(self):
            pass

        def elapsed_time(self, _end):
            return 500.0

    @staticmethod
    def is_available():
        return trouble != 'no gpu'

    @staticmethod
    def get_device_name(_):
        return os.environ.get('FAKE_GPU', 'NVIDIA H200')

    @staticmethod
    def get_device_properties(_):
        class Properties:
            name, multi_processor_count, total_memory = cuda.get_device_name(0), 132, 141 << 30
        return Properties

    @staticmethod
    def synchronize():
        pass

    @staticmethod
    def empty_cache():
        pass

    @staticmethod
    def reset_peak_memory_stats():
        pass

    @staticmethod
    def max_memory_allocated():
        return 1 << 30

    @staticmethod
    def max_memory_reserved():
        return 1 << 30
