#include "configs/scenario/job_error_codes.h"

#include <array>

namespace ringwright::configs {
namespace {

constexpr std::array kJobCodes = {
    ErrorCode{.code = "E480",
              .title = "a list of jobs that cannot be read as one",
              .explanation =
                  "`jobs` lists several jobs on one machine, each with a unique name, its GPUs, and what differs "
                  "from the file's\nmodel, training, parallel, memory or workload. `ringwright jobs` simulates them; "
                  "other commands are about one job.\nThe cluster, collectives and `simulate` belong to the machine.",
              .example = "jobs:\n  - { name: a, gpus: 64, parallel: {tp: 8} }\n  - { name: b, gpus: 32, scenario: "
                         "finetune.yaml }"},
    ErrorCode{.code = "E481",
              .title = "a job without a place",
              .explanation =
                  "Jobs get their hosts in the order of the list: packed, spread, rail_aligned, random, or those that "
                  "`hosts` names.\nEvery GPU has one job at most. A job takes `gpus_per_host` GPUs on each of its "
                  "hosts, all of them by default.",
              .example = "jobs: [{name: a, gpus: 16, hosts: [0, 1]}, {name: b, gpus: 8, gpus_per_host: 4, placement: "
                         "spread}]"},
    ErrorCode{.code = "E487",
              .title = "jobs that cannot share GPUs",
              .explanation =
                  "A job with `gpus_of: NAME` is on the GPUs of an earlier job, and `gpu_sharing.kind` says how they "
                  "are shared. MPS has\n`thread_percentage`, MIG `mig_profile` for every job, with at most 7 compute "
                  "and 8 memory slices on a GPU, AntMan and\nTGS `opportunistic: true` for all jobs of a GPU but one. "
                  "All need `interference: {model: share}`.",
              .example = "gpu_sharing: {kind: mps}\ninterference: {model: share}\njobs: [{name: a, gpus: 8}, {name: b, "
                         "gpus: 8, gpus_of: a, thread_percentage: 30}]"},
    ErrorCode{.code = "E482",
              .title = "a job for another machine",
              .explanation = "A job that names a scenario takes its model, training, parallel and memory. Kernels run "
                             "on the GPUs of the shared\nmachine, so both files must name the same GPU; and what a job "
                             "offloads fills the memory of whole hosts.",
              .example = "cluster: { node: { preset: dgx-h100 } }\njobs: [{name: a, gpus: 8, scenario: "
                         "llama3-8b-8-h100.yaml}]"},
    ErrorCode{.code = "E483",
              .title = "jobs that never end",
              .explanation = "Ranks of a job wait for each other, or a link of the only path stays down. The message "
                             "lists which ranks wait for\nwhat.",
              .example = "ringwright run one-job.yaml    # shows it for each job alone"},
    ErrorCode{.code = "E484",
              .title = "jobs whose steps differ too much in length",
              .explanation =
                  "Every job repeats its step until all jobs have ended their warm-up and measured steps, so "
                  "that no step lacks the\ntraffic of other jobs. Meanwhile a job may do 10,000 steps.",
              .example = "simulate: { steps: 1, warmup: 1 }\nbackground: [{from: [0], to: [8], size: 100MB, repeats: "
                         "1000}]    # instead of the short job"},
};

}  // namespace

std::span<const ErrorCode> job_error_codes() {
  return kJobCodes;
}

}  // namespace ringwright::configs
