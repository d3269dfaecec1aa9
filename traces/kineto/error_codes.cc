// The table of mistakes in profilers' traces.
#include "traces/kineto/error_codes.h"

#include <array>

namespace ringwright::traces {
namespace {

constexpr std::array kKinetoCodes = {
    ErrorCode{.code = "E255",
              .title = "a profiler's trace cannot be read",
              .explanation = "Accepted is the JSON of PyTorch's profiler (Kineto), plain or gzip, with at least one "
                             "kernel or copy of a GPU.\nAn archive (tar) is unpacked first.",
              .example = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True)"},
    ErrorCode{.code = "W256",
              .title = "events of a profiler's trace are missing, or recorded twice",
              .explanation = "The file ends early (the process was killed, or the copy is incomplete), or some of its "
                             "events are no valid JSON. What is complete is used, up to the end of the first trace in "
                             "the file. Equal events at one time on one "
                             "stream come from traces that were joined; all of them count.",
              .example = "ls -l rank0.json.gz    # compare its size with the original"},
    ErrorCode{.code = "E257",
              .title = "the element type of a collective is not known",
              .explanation = "The bytes of a collective are its elements times the bytes of their type. A type is not "
                             "guessed.",
              .example = "\"dtype\": \"BFloat16\""},
    ErrorCode{.code = "E258",
              .title = "the ranks of a process group are cut, or one is listed twice",
              .explanation = "PyTorch writes at most 30 ranks of a group. The others follow from Global rank start and "
                             "stride of\nrecord_param_comms where the ranks are evenly spaced, or from pg_config. "
                             "The ranks of a group differ.",
              .example = "\"Process Group Ranks\": \"[0, 8, 16, ..., 504]\""},
    ErrorCode{.code = "W258",
              .title = "size and ranks of a process group contradict each other",
              .explanation = "The group's list of ranks has more or fewer than its size, or ranks that the job does "
                             "not have, as in a trace that was\nchanged. The listed ranks are used.",
              .example = "\"Group size\": 4, \"Process Group Ranks\": \"[0, 1, 2, 3]\""},
    ErrorCode{.code = "W259",
              .title = "sizes of collectives are not known",
              .explanation = "Kernels of NCCL have no metadata: the trace is of an old PyTorch, or the events of the "
                             "CPU are missing.\nTheir times are used, their sizes and bandwidths are not known.",
              .example = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True)"},
    ErrorCode{.code = "E260",
              .title = "traces that do not belong together",
              .explanation = "Several traces are joined by rank. Two are of the same rank, of jobs of different size, "
                             "or one states no rank,\nor a rank that its own job does not have.",
              .example = "ringwright inspect rank0.json.gz rank1.json.gz"},
    ErrorCode{.code = "E627",
              .title = "a profiler's traces cannot be replayed",
              .explanation = "workload.kineto takes the traces of all ranks, or that of one rank, which then stands "
                             "for all. The ranks of each process group must be recorded; of one trace they must be "
                             "evenly spaced, so that the groups of the other ranks follow. All members of a group make "
                             "the same calls in the step.",
              .example = "workload: { kineto: [rank0.json.gz, rank1.json.gz] }"},
    ErrorCode{.code = "W627",
              .title = "communication of a profiler's trace takes its recorded time",
              .explanation = "Collectives are simulated where their size is recorded. Others, and messages, whose "
                             "peers are not recorded, take as long as on the recorded machine, on any machine.",
              .example = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True)"},
    ErrorCode{.code = "W629",
              .title = "kernels of one stream overlap in a profiler's trace",
              .explanation = "Work of a stream runs in order, but a kernel may begin before the one before it has "
                             "ended: programmatic\ndependent launch, branches of a CUDA graph, or times that were "
                             "rounded. The replay counts the overlap once, so\nthat the stream takes its recorded "
                             "time.",
              .example = "ringwright inspect rank0.json.gz"},
    ErrorCode{.code = "W628",
              .title = "ranks of a process group are taken for neighbours",
              .explanation =
                  "PyTorch before 2.2 does not record the ranks of process groups. How many they are follows "
                  "from the buffers of all-gathers and reduce-scatters; ranks in a row are then taken, as "
                  "those of one host.",
              .example = "ringwright inspect rank0.json.gz"},
};

}  // namespace

std::span<const ErrorCode> kineto_error_codes() {
  return kKinetoCodes;
}

}  // namespace ringwright::traces
