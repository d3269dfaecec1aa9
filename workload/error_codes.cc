// The codes of mistakes in a model, a training setup or a parallel layout: E130 to E147, E370, W131, W134, W142, W143.
#include <array>

#include "workload/builtin.h"

namespace ringwright::workload {
namespace {

constexpr std::array kCodes = {
    ErrorCode{
        "E130", "the layout does not fill the cluster",
        "tp x cp x pp x dp must be the number of GPUs. With dp: auto the data-parallel size is what remains, if tp x\n"
        "cp x pp divides the number of GPUs.",
        "cluster: { nodes: 4 } with 8 GPUs each, parallel: { tp: 8, pp: 3 }   # 24 does not divide 32"},
    ErrorCode{"E131", "layers do not divide over the pipeline",
              "pp x virtual_stages model chunks must have the same number of layers; or one less at both ends\n"
              "(stage_layers: trim-ends); or the numbers in layers_per_part, in model order.",
              "parallel: { pp: 16, stage_layers: trim-ends }   # 126 layers = 7 + 14 x 8 + 7"},
    ErrorCode{
        "E132", "the sizes of a model contradict each other",
        "Key-value heads must divide the attention heads, and a learned position table must have a row for every\n"
        "token of a sequence.",
        "model: { num_attention_heads: 64, num_query_groups: 6 }   # write 8"},
    ErrorCode{"E133", "a model family that cannot be read",
              "The families llama, mistral, qwen2, qwen3, gpt2, bert, mixtral, qwen2_moe, qwen3_moe, deepseek_v2, "
              "deepseek_v3 and\n"
              "gpt_oss are read from config.json; any other transformer can be described with explicit sizes.",
              "\"model_type\": \"t5\"   # describe the model with num_layers, hidden_size, ..."},
    ErrorCode{"E134", "a tensor-parallel size that does not divide the model",
              "tp must divide the attention heads, the width of the MLP and, under sequence parallelism, the sequence. "
              "Fewer\n"
              "key-value heads than ranks are replicated, if they divide tp.",
              "parallel: { tp: 6 } with 64 heads   # write 1, 2, 4, 8, ..."},
    ErrorCode{"E135", "arithmetic that the GPU does not support",
              "cluster.node.gpu.peak must name the rate of training.precision; bf16 or fp16 is required.",
              "training: { precision: bf16 } on a V100   # write fp16"},
    ErrorCode{
        "E136", "a batch that is not divisible",
        "Every data-parallel replica takes the same number of microbatches: micro_batch x dp divides global_batch.",
        "training: { global_batch: 100, micro_batch: 1 } with dp = 8   # write 96 or 104"},
    ErrorCode{
        "E137", "a pipeline that the schedule does not support",
        "Several chunks per stage need interleaved-1f1b (or a V-shaped schedule, which has two) and more than one\n"
        "stage. Interleaving processes microbatches in groups, of which the last must not be smaller than pp;\n"
        "DualPipe needs an even pp and 2 x pp microbatches or more.",
        "parallel: { schedule: 1f1b, virtual_stages: 2 }   # write schedule: interleaved-1f1b"},
    ErrorCode{
        "E138", "experts that do not divide over the ranks",
        "ep must divide the experts, etp their width, and etp x ep the ranks of a pipeline stage (tp x cp x dp). With\n"
        "tp > 1 experts need sequence_parallel: true.",
        "parallel: { ep: 6 } with 8 experts   # write 1, 2, 4 or 8"},
    ErrorCode{
        "E139", "a context-parallel size that does not fit",
        "2 x cp must divide the sequence (each rank has a chunk from the front and one from the back), attention must\n"
        "be fused, and where heads are exchanged for tokens (a2a) tp x that size must divide the heads.",
        "parallel: { cp: 8, cp_comm_type: a2a } with 4 key-value heads   # write cp_comm_type: p2p"},
    ErrorCode{
        "E140", "groups of data-parallel ranks that do not divide dp",
        "Ranks that hold one copy of the model's state together must divide the data-parallel size, and ranks that\n"
        "hold a second copy must divide those.",
        "parallel: { dp: 16, fsdp: { shard_degree: 6 } }   # write 1, 2, 4, 8 or 16"},
    ErrorCode{"E141", "two settings that contradict each other",
              "The same setting is given twice with different values. Remove one of them.",
              "parallel: { zero: { stage: 3 }, fsdp: {} }   # both shard the state: use one"},
    ErrorCode{"E144", "a Megatron flag that cannot be read",
              "Flags need the values that Megatron expects, and variables must be set in the same file. The message\n"
              "names the flag and its location.",
              "--tensor-model-parallel-size $TP   # TP=8 above, or the number itself"},
    ErrorCode{"E145", "a list of pipeline passes that cannot run",
              "Every stage runs every microbatch forward and backward once, in an order without deadlock, and\n"
              "messages are received in the order in which they are sent. The message names the stage and the pass.",
              "stages: { 0: F0 B0 F1 B1, 1: F0 F1 B0 B1 }   # stage 0 waits for B0 of stage 1, which waits for F1"},
    ErrorCode{
        "E146", "layers that cannot be recomputed this way",
        "With recompute_method: uniform groups of recompute_num_layers must divide the layers of every model chunk,\n"
        "and be single layers where parameters are gathered layer by layer. distribute_saved_activations\n"
        "distributes what sequence parallelism already splits. Layers with experts and latent attention are\n"
        "recomputed whole or by modules (recompute_modules), not operator by operator.",
        "training: { recompute: full, recompute_num_layers: 3 } with 8 layers per stage   # write 1, 2, 4 or 8"},
    ErrorCode{
        "E147", "exchanges that cannot overlap their GEMMs",
        "tp_comm_overlap needs sequence_parallel: true, so that activations are gathered and scattered, and weights\n"
        "without low-rank adapters.",
        "parallel: { tp: 8, tp_comm_overlap: true }   # add sequence_parallel: true"},
    ErrorCode{
        "E370", "exchanges of tokens that cannot overlap another microbatch",
        "overlap_moe_expert_parallel_comm runs a forward and a backward pass of different microbatches in turns: it\n"
        "needs 1F1B, with several model chunks per stage where there are several stages, or DualPipe, and layers that\n"
        "are neither recomputed as a whole nor gathered one by one.",
        "parallel: { pp: 4, ep: 8, overlap_moe_expert_parallel_comm: true }   # add virtual_stages: 2"},
    ErrorCode{
        "E460", "an order of layers that no hybrid model has",
        "hybrid_override_pattern has one letter for each of num_layers: M Mamba-2, G Gated DeltaNet, *\n"
        "attention, - MLP, E experts (with num_experts). Tensor-parallel ranks split heads and groups of Mamba-2\n"
        "layers and heads of Gated DeltaNet layers evenly, and context-parallel ones exchange them for tokens.",
        "model: { num_layers: 4, hybrid_override_pattern: \"M-*-\" }"},
    ErrorCode{
        "E461", "a setting that layers of Mamba-2 or Gated DeltaNet do not support",
        "Such layers are simulated without low-rank adapters and recomputation by operator. They can be recomputed\n"
        "as a whole.",
        "training: { recompute: full }"},
    ErrorCode{
        "E463", "a setting that experts in a latent space do not support",
        "With moe_latent_size tokens are projected before they are dispatched. Megatron-LM does not overlap shared\n"
        "experts with the dispatch then.",
        "model: { moe_latent_size: 1024 }, parallel: { moe_shared_expert_overlap: true }   # write false"},
    ErrorCode{"E464", "a setting that sparse attention does not support",
              "DeepSeek sparse attention (dsa_indexer_topk) is latent attention with a causal mask. It is simulated "
              "with fused\n"
              "kernels in the working type, without packed documents, adapters, and recomputation by operator. As in\n"
              "Megatron-LM, tensor-parallel ranks need sequence parallelism, and context-parallel ones gather keys.",
              "model: { preset: deepseek-v3.2 }, parallel: { cp: 2, cp_comm_type: all_gather }"},
    ErrorCode{
        "E592", "microbatches that cannot be shared unevenly",
        "Replicas may take different numbers of microbatches where they meet only at the end of a step: without\n"
        "experts over replicas, parameters or gradients that are exchanged in each microbatch, and with a schedule of\n"
        "one chunk per stage. The numbers of all replicas add up to global_batch / micro_batch.",
        "training: { global_batch: 16 }\nparallel: { dp: 2, microbatches_per_replica: [11, 5] }"},
    ErrorCode{"W135", "an unknown Megatron flag",
              "It is ignored. If it matters for time or memory, set the scenario's own key.",
              "--tensor-model-paralel-size 8   # did you mean --tensor-model-parallel-size?"},
    ErrorCode{"W136", "a Megatron flag whose effect is not modelled",
              "The run continues without it; the message states what is done instead.",
              "--cross-entropy-loss-fusion   # cross-entropy is taken as unfused"},
    ErrorCode{"W131", "a setting without effect", "The key is valid, but another setting makes it void.",
              "zero: { stage: 0, overlap_param_gather: true }   # nothing is gathered in stage 0"},
    ErrorCode{"W134", "a property of the model that is not modelled",
              "The run continues without it; the message states what is assumed instead.",
              "\"use_sliding_window\": true   # of qwen2: full causal attention is assumed"},
    ErrorCode{"W142", "a deprecated key of DeepSpeed", "It is read as the key that replaced it.",
              "\"cpu_offload\": true   # write \"offload_optimizer\": {\"device\": \"cpu\"}"},
    ErrorCode{
        "W143", "kernels beyond the measured sizes",
        "The calibrated compute model predicts these kernels by the rule of their family, but its constants were\n"
        "fitted to other sizes, or to none of that family or type: fp4 GEMMs where only bf16 and fp8 were measured,\n"
        "or all GEMMs of a GPU that uses another GPU's share of peak. A table of measured kernels narrows it.",
        "ringwright calibrate kernels mine.csv -o configs/kernels/h100-sxm5-80gb.yaml"},
    ErrorCode{"E570", "compressed gradients that are sharded",
              "A codec replaces the all-reduce of whole gradients. ZeRO and FSDP scatter them instead.",
              "training: { compression: { codec: int8 } }, parallel: { zero: { stage: 1 } }"},
    ErrorCode{"E571", "compressed gradients of mirrored stages",
              "DualPipe's two copies of a stage sum their gradients as well, and that sum is not compressed.",
              "training: { compression: { codec: int8 } }, parallel: { schedule: dualpipe }"},
    ErrorCode{"E572", "workers that cannot meet",
              "Workers of local SGD divide the data-parallel replicas evenly, and their fragments the steps between\n"
              "two exchanges.",
              "training: { local_sgd: { workers: 3, sync_every: 100 } } with dp = 8   # write 2, 4 or 8"},
    ErrorCode{"E573", "workers whose replicas also meet otherwise",
              "Workers of local SGD exchange the weights of a dense model, on the GPU, at the end of a step. Experts\n"
              "over replicas, mirrored stages, older versions of weights and offloaded state are refused.",
              "training: { local_sgd: { workers: 2, sync_every: 100 } }, parallel: { schedule: dualpipe }"},
    ErrorCode{"E574", "groups whose collectives cannot be divided",
              "parallel.partition divides the collectives of groups of ranks, by the names that a report gives them.",
              "parallel: { partition: { dimensions: [pp], chunks: 4 } }   # stages exchange messages; write dp"},
    ErrorCode{"E593", "pipeline stages that cannot have different numbers of ranks",
              "parallel.stages lists the layers, tp and dp of every stage; together they have all ranks and layers.\n"
              "They need one model chunk per stage, a schedule that empties the pipeline, and tensor and data\n"
              "parallelism alone.",
              "parallel: { stages: [{layers: 10, tp: 2, dp: 2}, {layers: 14, tp: 4}] }   # of 24 layers on 8 GPUs"},
    ErrorCode{"W570", "a codec that does not shrink gradients", "The encoded gradients have as many bytes as before.",
              "training: { grad_reduce_dtype: bf16, compression: { codec: fp16 } }"},
};

}  // namespace

std::span<const ErrorCode> workload_error_codes() {
  return kCodes;
}

}  // namespace ringwright::workload
