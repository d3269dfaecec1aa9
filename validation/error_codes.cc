#include "validation/error_codes.h"

#include <array>

namespace ringwright::validation {
namespace {

constexpr std::array kCodes = {
    ErrorCode{
        "E160", "a table of measurements cannot be read",
        "A table is CSV: lines `# key: value` at the head, one line of column names, then one line a row with as\n"
        "many cells. A cell with a comma is written in double quotes, a quote inside it is doubled.",
        "model,notes\ngpt3,\"first, and \"\"best\"\"\""},
    ErrorCode{
        "E161", "a row of measurements is invalid",
        "A column of numbers holds a number (a remark in brackets may follow), words that explain why there is none,\n"
        "or nothing at all. An empty cell means that the source does not state it; it never means 0.",
        "mbs\n4x          # write: 4, or `tuned, not printed`"},
    ErrorCode{
        "E163", "a table of kernels is invalid",
        "The head names the GPU and the source; every row has a family, a data type, FLOPs, bytes and a time. The\n"
        "format is described in docs/kernel-tables.md.",
        "# gpu: h100-sxm5-80gb\n# source: ours\nfamily,dtype,m,n,k,flops,bytes,time_us"},
    ErrorCode{"W162", "an option of `validate` has no effect",
              "The kind of measurement that is validated does not use this option.",
              "ringwright validate training --cluster dgx-a100   # every row names its machine"},
    ErrorCode{"W164", "a column of a table has no effect",
              "Its name is not known; a typing error drops the content of the column. docs/training-tables.md\n"
              "lists the columns.",
              "id,model,gpu,n_gpus,step_time      # write: step_time_s"},
    ErrorCode{"W165", "a measured run is not compared",
              "The row gives no time and no rate, names a GPU or a model that is not known, or its layout cannot be\n"
              "simulated. The message states the reason.",
              "id,model,gpu,n_gpus,tp,pp,step_time_s\nours-1,gpt3-175b,A100,8,3,1,2.5   # tp 3 does not divide 8 GPUs"},
    ErrorCode{"E166", "no measured run could be compared",
              "A comparison of nothing is no success. The messages before it state why each row was left out.",
              "ringwright validate training runs.csv"},
    ErrorCode{"E167", "times in another unit",
              "Most kernels of the table would be far faster than the GPU's peak, or slower than any kernel of their\n"
              "size. Times are in the unit of the column's name.",
              "time_us\n0.0842        # 84.2 us written in ms"},
    ErrorCode{"E168", "a rule of words is invalid",
              "The files validation/training/conventions.yaml and words.yaml map words of tables to settings. A rule\n"
              "has `words`, all of which must occur, and settings written as KEY=VALUE.",
              "recompute:\n  - {words: [full], set: [training.recompute=full]}"},
    ErrorCode{"W169", "words of a table have no effect",
              "No rule of validation/training/words.yaml fits the cell: the settings of the row's software stack hold.",
              "recompute\npartially      # write: none, selective or full"},
    ErrorCode{"W170", "a measured run does not fit into GPU memory",
              "It was measured, so it fits: the row states another layout, batch or GPU than those of the run, omits\n"
              "what saves memory (dp_sharding, recompute), or predicted memory is too high. Its predicted time is\n"
              "that of the row as it stands.",
              "id,model,gpu,n_gpus,tp,step_time_s\nours-1,gpt3-175b,A100-SXM4-80GB,8,8,30   # 64 GPUs, pp 8"},
    ErrorCode{"W171", "the time and the rate of a measured run contradict each other",
              "Tokens of a step over GPUs and tok_s_gpu give another time than step_time_s, which is compared.",
              "id,model,gpu,n_gpus,seq,gbs,step_time_s,tok_s_gpu\nours-1,gpt3-175b,A100,64,2048,64,18.1,1000"},
    ErrorCode{"E240", "the machine of a measurement is not known",
              "The log names a GPU of which no node is shipped, or has an impossible number of ranks or hosts.\n"
              "Describe the machine in a file with a map `cluster` and name it.",
              "ringwright validate nccl all_reduce.log --cluster my-cluster.yaml"},
    ErrorCode{"E241", "the collective of a measurement is not known",
              "Newer versions of nccl-tests print which test runs; for older ones the name of the file is used.",
              "all_reduce_perf -b 8 -e 8G -f 2 > all_reduce_2n.log"},
    ErrorCode{"E244", "the collective of a log is stated twice",
              "The log states which operation was measured, and --collective another one. Two operations cannot\n"
              "be compared, so the option is refused; it is for logs that state none.",
              "ringwright validate nccl all_gather.log      # without --collective"},
    ErrorCode{"W244", "the name of a log is that of another collective",
              "The text of the log does not state the operation. --collective does, and comes before the file's name.",
              "ringwright validate nccl all_reduce_2n.log --collective all_gather"},
    ErrorCode{"W247", "measurements were given twice",
              "A file has the content of an earlier one, or a log all its times. It counts once: twice its rows would\n"
              "have twice the weight in a fit.",
              "ringwright calibrate nccl all_reduce.log copy_of_all_reduce.log"},
    ErrorCode{"E242", "the list of measured machines is invalid",
              "Each row names a machine, the sources of its logs, its GPU and the logs on which its profile is fitted.",
              "machine,sources,gpu,gpus_per_process,timing,fitted\nours,example.org/logs,h100,8,,one_host two_hosts"},
    ErrorCode{"E243", "how the calls of a log were timed is not understood",
              "The line `# timing` of a table is `in a row` (as nccl-tests does, and the default) or `alone "
              "PyTorch`: one call\n"
              "at a time on an idle device, through torch.distributed, between two CUDA events.",
              "# timing: alone PyTorch"},
    ErrorCode{
        "E361", "a log cannot be simulated",
        "The other logs are compared without it, and the comparison does not pass. The reasons follow: the machine\n"
        "that the log describes is refused, its collective is not known, or a setting does not fit it.",
        "ringwright validate nccl all_reduce.log --cluster my-cluster.yaml"},
    ErrorCode{
        "W363", "a fit leaves much over",
        "Constants of machines of the log's class cannot meet its times: more than 30 % are left in a band of sizes.\n"
        "The profile is written, the exit code is 5.",
        "ringwright calibrate nccl disturbed.log -o profile.yaml"},
    ErrorCode{"E462", "the list of errors of training steps that were left out is invalid",
              "validation/left_out_training.csv states for each kind of step the number of rows and of sources, the\n"
              "error and the bias as ratios. `tools/leave_one_out.py BINARY --training --page` writes it.",
              "generation,strategy,precision,rows,sources,error,bias"},
    ErrorCode{"E364", "the list of errors of machines that were left out is invalid",
              "Each row names what moves messages (none: within one host), a band of sizes, and two errors as ratios.",
              "transport,band,logs,machines,error,bias\nefa,below 64 KiB,1,1,0.4,-0.4"},
    ErrorCode{"E264", "recorded collectives cannot be placed on a cluster",
              "Traces and logs do not describe the machine: --cluster names it. Ranks fill hosts in blocks of as many "
              "as the\ncluster's node has GPUs, or --hosts states over how many hosts the job was spread.",
              "ringwright validate kineto rank*.json.gz --cluster dgx-h100 --hosts 2"},
    ErrorCode{"W265", "recorded calls are not compared",
              "Their size is not recorded, they are no collectives, their communicator has different numbers of "
              "ranks on its hosts,\nor two ranks recorded different calls under one number.",
              "profile(activities=[...], record_shapes=True)   # with sizes"},
    ErrorCode{"E560", "a row of the table of systems contradicts itself",
              "A row runs a step or a job with failures, and then has a scenario, a figure, a check, what it expects "
              "and a\nsource; or it runs nothing, and its note says why the system is not modelled or where it is "
              "checked.",
              "id,name,run,scenario,set,base,figure,check,expected,tolerance,source,note"},
    ErrorCode{"E561", "a row of the table of systems has no figure",
              "Its scenario is refused or does not end, or the run has no such figure: a step without a pipeline has "
              "no bubble,\nand memory is listed by the items of its report.",
              "ringwright validate systems"},
};

}  // namespace

std::span<const ErrorCode> validation_error_codes() {
  return kCodes;
}

}  // namespace ringwright::validation
