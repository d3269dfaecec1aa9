#include "core/config/error_codes.h"

#include <array>

namespace ringwright {
namespace {

constexpr std::array kCodes = {
    ErrorCode{"E100", "a file cannot be read", "The path is relative to the directory in which the command runs.",
              "ringwright run lama.yaml      # the file is called llama.yaml"},
    ErrorCode{
        "E101", "the text is not YAML or JSON",
        "Brackets and quotes must close, indentation is made of blanks, text that holds ': ' or begins with one of\n"
        "@ ` % & * ! is quoted, and one file holds one document in UTF-8. YAML tags (!!int) are not supported.",
        "name: step 1: warm up         # write: name: \"step 1: warm up\""},
    ErrorCode{"E102", "a key that nothing reads",
              "Every key must have an effect; an unknown one is a typo, stands in the wrong section, or belongs\n"
              "to an option that is not chosen. 'ringwright explain KEY' describes the known ones.",
              "cluster: { topolgy: ... }     # write: topology"},
    ErrorCode{"E103", "a key appears twice in one map",
              "YAML readers disagree which of the two counts, so this is an error. Remove one.",
              "parallel:\n  tp: 8\n  tp: 4                       # remove one of them"},
    ErrorCode{
        "E104", "a required key is missing",
        "The value has no sensible default. It may also come from a preset or from the file that this one extends.",
        "training: { micro_batch: 1 }  # global_batch is missing"},
    ErrorCode{
        "E105", "a value of the wrong kind",
        "Integers may be written 128, 1_000, 1e9, 128k (= 128,000), 2M or 1G; a quoted value is text; switches are\n"
        "true or false and nothing else.",
        "parallel: { tp: \"8\" }         # write: tp: 8"},
    ErrorCode{
        "E106", "a value out of range",
        "The message gives the range. Times and sizes are not negative, rates are above 0, integers fit 64 bits,\n"
        "times fit the clock of 106 days.",
        "parallel: { tp: 0 }           # at least 1"},
    ErrorCode{"E107", "not one of the options",
              "The value must be one of the words that the message lists, spelled exactly so.",
              "schedule: interleaved_1f1b    # write: interleaved-1f1b"},
    ErrorCode{
        "E108", "merge keys are not supported",
        "'<<' merges maps in some YAML readers and not in others. To build on another file, use 'extends'; to use\n"
        "a whole map twice, an alias (*name) does.",
        "parallel:\n  <<: *base                   # in a file of its own: extends: base.yaml"},
    ErrorCode{
        "E109", "a file or preset to build on cannot be used",
        "'extends' is the path of one file, relative to the file that sets it, or the name of a shipped scenario.\n"
        "'preset' is the name of a shipped file ('ringwright list' shows them), or the path of one of your own,\n"
        "which ends with .yaml (in --set, relative to the working directory). Neither may lead back to itself.",
        "node: { preset: dgx-h10 }     # write: dgx-h100"},
    ErrorCode{
        "E110", "a quantity without a unit",
        "Times, sizes, bandwidths and compute rates carry their unit, since 400 may be Gbit/s or GB/s, which is a\n"
        "factor of 8. Gbps = 1e9 bit/s; GB/s = 1e9 byte/s; GiB = 2^30 byte; bandwidths are per direction.",
        "speed: 400                    # write: speed: 400Gbps"},
    ErrorCode{"E111", "a number with a leading zero",
              "YAML 1.1 reads 016 as octal (14), YAML 1.2 as 16. Write the number without the zero.",
              "tp: 016                       # write: tp: 16"},
    ErrorCode{"E112", "an unknown unit",
              "Units are case-sensitive: Gbps are bits, GB/s are bytes. The message lists the units of this kind.",
              "speed: 400gbps                # write: speed: 400Gbps"},
    ErrorCode{
        "E113", "a key without a value",
        "'key:' with nothing behind it is null. Often the lines below are not indented. In a JSON file null means\n"
        "that the key is not given.",
        "parallel:\ntp: 8                         # indent by two blanks"},
    ErrorCode{
        "E114", "a --set that cannot be applied",
        "The form is --set path.of.the.key=value, where the value is YAML: --set parallel.stage_layers=\"[7, 8, 7]\".\n"
        "Single entries of lists cannot be set; give the whole list. A map is merged with the one that is there, key\n"
        "by key: an empty one would change nothing.",
        "--set parallel.tp             # write: --set parallel.tp=8"},
    ErrorCode{
        "E115", "a scenario and a file that it names disagree",
        "A value that a named file sets (a DeepSpeed configuration, an FSDP configuration) holds where the scenario\n"
        "sets nothing. Where both set a key, the values must be the same.",
        "training: { deepspeed: ds.json, micro_batch: 4 }   # ds.json: train_micro_batch_size_per_gpu: 2"},
    ErrorCode{"E116", "a file in another format cannot be used",
              "The key names a file of another tool, relative to the file that names it. Its values override the\n"
              "preset; keys that are written out override its values.",
              "nccl_topo: dgx.xml            # the file must be there"},
    ErrorCode{"E117", "the text is not XML", "Tags must close, attributes stand in quotes, and & is written as &amp;.",
              "<gpu dev=0>                   # write: <gpu dev=\"0\">"},
    ErrorCode{"E118", "a name that cannot be a folder name",
              "Results go to out/NAME. A name has no slash, no backslash and no control character, does not begin\n"
              "with a dot, and has at most 200 bytes.",
              "name: runs/llama              # write: runs-llama"},
    ErrorCode{
        "W593", "what a scenario states of its machine is replaced",
        "--set cluster.preset=NAME moves a job to a shipped machine: what the scenario states of its own hosts and\n"
        "fabric (cluster.node, cluster.fabric) is dropped, the number of hosts stays. A scenario that names a machine\n"
        "itself keeps the keys next to `preset`.",
        "--set cluster.preset=dgx-b200-superpod-ndr --set cluster.nodes=64"},
};

}  // namespace

std::span<const ErrorCode> config_error_codes() {
  return kCodes;
}

}  // namespace ringwright
