#include "validation/builtin.h"

#include <array>

namespace ringwright::validation {
namespace {

constexpr std::array kValidators = {
    Validator{
        .name = "host_copies", .help = "tables of copies between a GPU and its host", .run = validate_host_copies},
    Validator{.name = "interference",
              .help = "tables of kernels concurrent with kernels that move bytes",
              .run = validate_interference},
    Validator{.name = "kernels", .help = "tables of measured kernels", .run = validate_kernels},
    Validator{.name = "kineto",
              .help = "traces of PyTorch's profiler, one per rank (--cluster)",
              .run = validate_kineto},
    Validator{.name = "launches", .help = "tables of the host time of launches", .run = validate_launches},
    Validator{.name = "layers", .help = "tables of transformer layers on one GPU", .run = validate_layers},
    Validator{.name = "memory", .help = "tables of device memory's and L2's bandwidth", .run = validate_memory},
    Validator{
        .name = "mpi", .help = "tables of MPI collectives whose algorithms are known by name", .run = validate_mpi},
    Validator{.name = "nccl", .help = "logs of nccl-tests and rccl-tests", .run = validate_nccl},
    Validator{.name = "nccl-inspector",
              .help = "logs of NCCL or RCCL Inspector, or their folder (--cluster)",
              .run = validate_nccl_inspector},
    Validator{
        .name = "offload", .help = "tables of copies over the host link during computation", .run = validate_offload},
    Validator{
        .name = "primitives", .help = "tables of rings among thread blocks of one GPU", .run = validate_primitives},
    Validator{.name = "primitive_times",
              .help = "tables of single primitives inside NCCL's kernels (NPKit)",
              .run = validate_primitive_times},
    Validator{.name = "reliability", .help = "tables of jobs with failures", .run = validate_reliability},
    Validator{.name = "systems", .help = "tables of published systems, each with its check", .run = validate_systems},
    Validator{.name = "training", .help = "tables of measured training runs", .run = validate_training},
};
constexpr std::array kCalibrators = {
    Calibrator{.name = "nccl", .help = "logs of nccl-tests and rccl-tests", .run = calibrate_nccl},
    Calibrator{.name = "kernels", .help = "the kernel profile of a GPU, from tables of measured kernels",
               .run = calibrate_kernels},
    Calibrator{.name = "host_copies", .help = "the host link of a GPU", .run = calibrate_host_copies},
    Calibrator{.name = "interference", .help = "what kernels and collectives take from each other on a GPU",
               .run = calibrate_interference},
    Calibrator{.name = "primitives",
               .help = "the cost of a primitive of LL, LL128 and Simple in a thread block",
               .run = calibrate_primitives},
};

}  // namespace

std::span<const Validator> validators() { return kValidators; }
std::span<const Calibrator> calibrators() { return kCalibrators; }

}  // namespace ringwright::validation
