"""Modules that run their forward pass on tensors of nothing."""

import torch

from . import attention


class Module:
    def to(self, **_):
        return self

    def parameters(self):
        return [torch.Tensor() for _ in range(4)]

    def __call__(self, *inputs):
        return self.forward(*inputs)


class Linear(Module):
    def __init__(self, inputs, outputs, bias):
        assert inputs > 0 and outputs > 0 and bias in (True, False)

    def forward(self, x):
        return x


class RMSNorm(Module):
    def __init__(self, size):
        assert size > 0

    def forward(self, x):
        return x


class Embedding(RMSNorm):
    def __init__(self, rows, size):
        super().__init__(size)
        assert rows > 0
        self.weight = torch.Tensor()

    def forward(self, tokens):
        return torch.Tensor((1, 64, 64))


LayerNorm = RMSNorm
ModuleList = list


class functional:
    @staticmethod
    def scaled_dot_product_attention(query, _key, _value, is_causal, enable_gqa):
        assert is_causal in (True, False) and enable_gqa in (True, False)
        if torch.trouble == 'no kernel':
            raise RuntimeError('No available kernel. Aborting execution.')
        return query

    @staticmethod
    def gelu(x, approximate):
        assert approximate == 'tanh'
        return x

    @staticmethod
    def silu(x):
        return x

    @staticmethod
    def cross_entropy(logits, _targets):
        return logits


class utils:
    @staticmethod
    def clip_grad_norm_(parameters, most, foreach):
        assert parameters and most > 0 and foreach
