// The work of PyTorch's operators, from the shapes of their inputs: FLOPs and bytes of the kernel that carries one out.
//
// Bytes are a lower bound: each input is read once and each output written once. Tensors of expanded dimensions count
// as if they were whole.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/plan/kernel.h"
#include "traces/kineto/operator_input.h"

namespace ringwright::traces {

// Whether its work is known: "aten::mm".
[[nodiscard]] bool has_known_work(std::string_view name);

// Empty: the operator is not known, or its inputs do not tell its work: no shapes, types of unknown size, attention
// without its mask. 32-bit matrix multiplications are kFp32; the name of their kernel tells whether it is TF32
// (uses_tf32).
[[nodiscard]] std::optional<Kernel> kernel_of_operator(std::string_view name, std::span<const OperatorInput> inputs);

// By the name of a kernel of cuBLAS or CUTLASS: tensor cores with 32-bit inputs ("s1688" is the shape of their
// instruction, mma.m16n8k8.f32.tf32).
[[nodiscard]] bool uses_tf32(std::string_view kernel);

}  // namespace ringwright::traces
