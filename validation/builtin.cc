#include "validation/builtin.h"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "traces/input/equal_files.h"

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
    Validator{.name = "steps",
              .help = "tables of measured steps, each with its scenario and settings",
              .run = validate_steps},
    Validator{.name = "systems", .help = "tables of published systems, each with its check", .run = validate_systems},
    Validator{.name = "training", .help = "tables of measured training runs", .run = validate_training},
};
constexpr std::array kCalibrators = {
    Calibrator{.name = "nccl", .help = "logs of nccl-tests and rccl-tests", .run = calibrate_nccl},
    Calibrator{.name = "kernels", .help = "the kernel profile of a GPU, from tables of measured kernels",
               .run = calibrate_kernels},
    Calibrator{.name = "host_copies", .help = "the host link of a GPU", .run = calibrate_host_copies},
    Calibrator{.name = "interference", .help = "the slowdown of concurrent kernels and collectives on a GPU",
               .run = calibrate_interference},
    Calibrator{.name = "primitives",
               .help = "the cost of a primitive of LL, LL128 and Simple in a thread block",
               .run = calibrate_primitives},
};

// A second time its rows would weigh twice, in a fit and in a mean. What cannot be read is reported by its reader.
Diagnostics leave_out_repeated(std::vector<std::string>& files) {
  Diagnostics warnings;
  traces::EqualFiles known;
  std::vector<std::string> kept;
  std::vector<std::string> first;  // by number
  for (std::string& file : files) {
    std::error_code error;
    const bool regular = std::filesystem::is_regular_file(file, error);
    const auto number = regular ? known.number_of(file) : tl::expected<std::size_t, std::string>(first.size());
    if (regular && number && *number < first.size()) {
      warnings.add({.severity = Severity::kWarning,
                    .code = "W247",
                    .place = {.file = file},
                    .message = fmt::format("the file has the content of '{}', and is left out", first[*number])});
      continue;
    }
    if (regular && number) first.push_back(file);
    kept.push_back(std::move(file));
  }
  files = std::move(kept);
  return warnings;
}

template <class Kind, class Request>
auto run_once_for_each(const Kind& kind, Request request) {
  const Diagnostics repeated = leave_out_repeated(request.files);
  auto outcome = kind.run(request);
  if (outcome) {
    for (const Diagnostic& warning : repeated.all()) outcome->warnings.add(warning);
  }
  return outcome;
}

}  // namespace

Result<ValidationOutcome> run_validator(const Validator& validator, ValidationRequest request) {
  return run_once_for_each(validator, std::move(request));
}
Result<CalibrationOutcome> run_calibrator(const Calibrator& calibrator, CalibrationRequest request) {
  return run_once_for_each(calibrator, std::move(request));
}

std::span<const Validator> validators() { return kValidators; }
std::span<const Calibrator> calibrators() { return kCalibrators; }

}  // namespace ringwright::validation
