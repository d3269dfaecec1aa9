#!/usr/bin/env python3
"""One transformer layer, forward and backward, and whole training steps of GPT and Llama models on one GPU, by PyTorch.

    train_step.py --out tables [--quick] [--budget SECONDS] [--dry-run]

Writes layers.csv (time of a layer's two passes) and train_step.csv, whose columns are those of `ringwright validate training`:
the same configuration is predicted from it. bf16 weights, gradients added to fp32 main gradients, fused Adam on fp32 masters,
as Megatron-LM does: 18 bytes a parameter.
"""

import dataclasses
import gc
import os

from torch_tables import (Budget, Table, end_of, first_line, gpu_key, header, import_torch, is_device_lost, options_of, run,
                          time_calls)


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int
    llama: bool  # RMSNorm, SwiGLU, rotary positions, no biases; else LayerNorm, GELU, learned positions, biases


MODELS = (Model('gpt2-124m', 12, 768, 12, 12, 3072, 50304, False), Model('gpt2-350m', 24, 1024, 16, 16, 4096, 50304, False),
          Model('gpt2-1.5b', 48, 1600, 25, 25, 6400, 50304, False), Model('llama-1b', 16, 2048, 32, 8, 8192, 128256, True),
          Model('llama-3b', 28, 3072, 24, 8, 8192, 128256, True))
LAYERS = MODELS[1:] + (Model('llama-8b', 1, 4096, 32, 8, 14336, 128256, True),
                       Model('llama-70b', 1, 8192, 64, 8, 28672, 128256, True),
                       Model('gpt-13b', 1, 5120, 40, 40, 20480, 50304, False))


def layer_cases(quick):
    sizes = ((1, 4096),) if quick else ((1, 1024), (1, 2048), (4, 1024), (1, 4096), (2, 4096), (1, 8192))
    return [(model, batch, length) for model in LAYERS for batch, length in sizes]


def step_cases(quick):
    sizes = ((1, 1, 2048),) if quick else ((1, 1, 1024), (4, 1, 1024), (1, 1, 2048), (2, 4, 2048), (1, 1, 4096), (1, 2, 8192))
    return [(model, micro, accumulate, length) for model in MODELS for micro, accumulate, length in sizes]


def build(torch):
    """The modules; a function, so that a dry run needs no PyTorch."""
    nn, functional = torch.nn, torch.nn.functional

    angles = {}

    def angles_of(x, length):
        """Cosine and sine of each position: computed once, as frameworks do."""
        size = x.shape[-1]
        if (length, size) not in angles:
            frequency = 10000.0 ** (-torch.arange(0, size, 2, device=x.device, dtype=torch.float32) / size)
            angle = torch.arange(length, device=x.device, dtype=torch.float32)[:, None] * frequency
            angles[length, size] = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        return angles[length, size]

    def rotate(x, length):
        cos, sin = angles_of(x, length)
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)

    class Layer(nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model
            size = model.hidden // model.heads
            norm = (lambda: nn.RMSNorm(model.hidden)) if model.llama else (lambda: nn.LayerNorm(model.hidden))
            bias = not model.llama
            self.attention_norm, self.mlp_norm = norm(), norm()
            self.qkv = nn.Linear(model.hidden, (model.heads + 2 * model.kv_heads) * size, bias=bias)
            self.projection = nn.Linear(model.heads * size, model.hidden, bias=bias)
            self.up = nn.Linear(model.hidden, (2 if model.llama else 1) * model.ffn, bias=bias)
            self.down = nn.Linear(model.ffn, model.hidden, bias=bias)

        def forward(self, x):
            model = self.model
            batch, length, _ = x.shape
            size = model.hidden // model.heads
            query, key, value = self.qkv(self.attention_norm(x)).split(
                [model.heads * size, model.kv_heads * size, model.kv_heads * size], dim=-1)
            query, key, value = (part.view(batch, length, -1, size).transpose(1, 2) for part in (query, key, value))
            if model.llama:
                query, key = rotate(query, length), rotate(key, length)
            context = functional.scaled_dot_product_attention(query, key, value, is_causal=True,
                                                              enable_gqa=model.heads != model.kv_heads)
            x = x + self.projection(context.transpose(1, 2).reshape(batch, length, -1))
            inner = self.up(self.mlp_norm(x))
            if model.llama:
                gate, inner = inner.chunk(2, dim=-1)
                inner = functional.silu(gate) * inner
            else:
                inner = functional.gelu(inner, approximate='tanh')
            return x + self.down(inner)

    class Transformer(nn.Module):
        def __init__(self, model, length):
            super().__init__()
            self.embedding = nn.Embedding(model.vocab, model.hidden)
            self.positions = None if model.llama else nn.Embedding(length, model.hidden)
            self.layers = nn.ModuleList(Layer(model) for _ in range(model.layers))
            self.norm = nn.RMSNorm(model.hidden) if model.llama else nn.LayerNorm(model.hidden)
            self.head = nn.Linear(model.hidden, model.vocab, bias=False)

        def forward(self, tokens, targets):
            x = self.embedding(tokens)
            if self.positions is not None:
                x = x + self.positions.weight[:tokens.shape[1]]
            for layer in self.layers:
                x = layer(x)
            logits = self.head(self.norm(x)).float()
            return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    return Layer, Transformer


class Trainer:
    """bf16 weights, fp32 main gradients, masters and moments; the gradient of a tensor is freed as soon as it is added."""

    def __init__(self, torch, module):
        self.torch, self.parameters = torch, list(module.parameters())
        for parameter in self.parameters:
            parameter.main_grad = torch.zeros_like(parameter, dtype=torch.float32)
            parameter.register_post_accumulate_grad_hook(self.accumulate)
        self.masters = [parameter.detach().float().requires_grad_() for parameter in self.parameters]
        self.optimizer = torch.optim.AdamW(self.masters, lr=1e-4, fused=True)

    @staticmethod
    def accumulate(parameter):
        parameter.main_grad.add_(parameter.grad)
        parameter.grad = None

    def step(self):
        for parameter, master in zip(self.parameters, self.masters):
            master.grad = parameter.main_grad
        self.torch.nn.utils.clip_grad_norm_(self.masters, 1.0, foreach=True)
        self.optimizer.step()
        with self.torch.no_grad():
            self.torch._foreach_copy_(self.parameters, self.masters)
            self.torch._foreach_zero_([parameter.main_grad for parameter in self.parameters])


def free(torch):
    gc.collect()
    torch.cuda.empty_cache()


def measure_layer(torch, layer, model, batch, length):
    """Times of both passes, and peak memory."""
    layer = layer.to(device='cuda', dtype=torch.bfloat16)
    x = torch.randn(batch, length, model.hidden, device='cuda', dtype=torch.bfloat16, requires_grad=True)
    inputs = [x, *layer.parameters()]
    torch.cuda.reset_peak_memory_stats()
    result = layer(x)
    gradient = torch.randn_like(result)
    forward = time_calls(torch, lambda: layer(x))
    backward = time_calls(torch, lambda: torch.autograd.grad(result, inputs, gradient, retain_graph=True))
    return forward, backward, torch.cuda.max_memory_allocated()


def measure_layers(torch, options, budget):
    """False when time is up."""
    keys = ['model', 'hidden', 'heads', 'kv_heads', 'ffn', 'batch', 'length']
    values = [f'{part}_{what}' for part in ('forward', 'backward') for what in ('us', 'low_us', 'high_us')] + ['peak_bytes']
    table = Table(os.path.join(options.out, 'layers.csv'), header(torch, 'train_step.py'), keys, values)
    layer_class, _ = build(torch)
    for model, batch, length in layer_cases(options.quick):
        row = {'model': model.name, 'hidden': model.hidden, 'heads': model.heads, 'kv_heads': model.kv_heads,
               'ffn': model.ffn, 'batch': batch, 'length': length}
        if table.has(row):
            continue
        if budget.is_up():
            return False
        free(torch)
        try:
            forward, backward, row['peak_bytes'] = measure_layer(torch, layer_class(model), model, batch, length)
        except RuntimeError as error:
            if is_device_lost(error):
                raise
            print(f'skipped: layer {model.name} {batch}x{length}: {first_line(error)}', flush=True)
            continue
        for part, times in (('forward', forward), ('backward', backward)):
            row[f'{part}_us'], row[f'{part}_low_us'], row[f'{part}_high_us'] = (f'{time:.6g}' for time in times)
        table.add(row)
        print(f"layer {model.name} {batch}x{length}: {row['forward_us']} + {row['backward_us']} us", flush=True)
    return True


STEP_COLUMNS = ['id', 'model', 'layers', 'hidden', 'heads', 'kv_heads', 'ffn', 'vocab', 'seq', 'gpu', 'n_gpus',
                'gpus_per_node', 'tp', 'pp', 'dp', 'mbs', 'gbs', 'grad_acc', 'recompute', 'precision', 'framework']


def step_id(model, micro, accumulate, length):
    """Up to the dash it is the source's name, as `ringwright validate training` reads tables."""
    return f"train_step-{model.name.replace('-', '_')}_{length}x{micro}x{accumulate}"


def measure_steps(torch, options, budget):
    """False when time is up."""
    table = Table(os.path.join(options.out, 'train_step.csv'), header(torch, 'train_step.py'), STEP_COLUMNS,
                  ['step_time_s', 'step_low_s', 'step_high_s', 'mem_gib', 'reserved_gib'])
    _, transformer_class = build(torch)
    for model, micro, accumulate, length in step_cases(options.quick):
        row = {'id': step_id(model, micro, accumulate, length), 'model': model.name, 'layers': model.layers,
               'hidden': model.hidden, 'heads': model.heads, 'kv_heads': model.kv_heads, 'ffn': model.ffn, 'vocab': model.vocab,
               'seq': length, 'gpu': gpu_key(torch), 'n_gpus': 1, 'gpus_per_node': 1, 'tp': 1, 'pp': 1, 'dp': 1,
               'mbs': micro, 'gbs': micro * accumulate, 'grad_acc': accumulate, 'recompute': 'none', 'precision': 'bf16',
               'framework': 'pytorch-eager'}
        if table.has(row):
            continue
        if budget.is_up():
            return False
        free(torch)
        torch.cuda.reset_peak_memory_stats()
        try:
            module = transformer_class(model, length).to(device='cuda', dtype=torch.bfloat16)
            trainer = Trainer(torch, module)
            tokens = torch.randint(model.vocab, (2, micro, length), device='cuda')

            def step():
                for _ in range(accumulate):
                    (module(tokens[0], tokens[1]) / accumulate).backward()
                trainer.step()

            times = time_calls(torch, step, seconds=2.0)
        except RuntimeError as error:
            if is_device_lost(error):
                raise
            print(f"skipped: step {row['id']}: {first_line(error)}", flush=True)
            continue
        finally:
            module = trainer = None
        row['step_time_s'], row['step_low_s'], row['step_high_s'] = (f'{time * 1e-6:.6g}' for time in times)
        row['mem_gib'] = f'{torch.cuda.max_memory_allocated() / 2**30:.6g}'
        row['reserved_gib'] = f'{torch.cuda.max_memory_reserved() / 2**30:.6g}'
        table.add(row)
        print(f"step {row['id']}: {row['step_time_s']} s, {row['mem_gib']} GiB", flush=True)
    return True


def main():
    options = options_of(__doc__)
    if options.dry_run:
        for model, batch, length in layer_cases(options.quick):
            print(f'layer {model.name} {batch}x{length}')
        for model, micro, accumulate, length in step_cases(options.quick):
            print(f'step {model.name} {length}x{micro}x{accumulate}')
        return 0
    budget = Budget(options.budget)
    torch = import_torch()
    os.makedirs(options.out, exist_ok=True)
    # Layers may take half of the time, and steps the rest; layers then continue in the time that steps leave.
    half = Budget(options.budget / 2 if options.budget else None)
    layers_done = measure_layers(torch, options, half)
    steps_done = measure_steps(torch, options, budget)
    if not layers_done and not budget.is_up():
        layers_done = measure_layers(torch, options, budget)
    return end_of(layers_done and steps_done)


if __name__ == '__main__':
    run(main)
