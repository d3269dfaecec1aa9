// Drawing: a machine first, then a layout whose degrees divide it, then everything else independently.
#include "tests/configs/campaign/random_scenario.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/configs/campaign/random_machine.h"

namespace ringwright::configs {
namespace {

std::string schedule(Draw& draw, const Drawn& drawn) {
  if (drawn.pp == 1) return "";
  // Weight stashing excludes sharded gradients and parameters.
  const bool plain = drawn.sharded || drawn.experts;
  const std::string_view name =
      plain ? draw.word({"1f1b", "gpipe", "interleaved-1f1b"})
            : draw.word({"1f1b", "1f1b", "gpipe", "interleaved-1f1b", "interleaved-1f1b", "zb-h1", "zb-h2", "zb-v",
                         "v-half", "v-min", "dualpipe", "dualpipev", "pipedream", "pipedream-2bw", "varuna"});
  if (name == "dualpipe" && drawn.pp % 2 == 1) return ", schedule: gpipe";
  std::string text = fmt::format(", schedule: {}", name);
  const bool pairs = name == "zb-v" || name == "dualpipev" || name.starts_with("v-");
  if (pairs || name == "interleaved-1f1b") text += ", virtual_stages: 2";
  if (draw.one_in(3)) text += ", overlap_p2p_comm: true";
  return text;
}

std::string sharding(Draw& draw, Drawn& drawn) {
  const int kind = draw.between(0, 9);
  if (kind <= 1) return "";
  if (kind == 9 && drawn.pp == 1 && !drawn.experts) {
    drawn.sharded = true;
    return fmt::format(
        ", fsdp: {{sharding_strategy: {}, backward_prefetch: {}, limit_all_gathers: {}, "
        "forward_prefetch: {}}}",
        draw.word({"full_shard", "shard_grad_op", "hybrid_shard", "no_shard"}),
        draw.word({"backward_pre", "backward_post", "none"}), draw.word({"true", "false"}),
        draw.word({"true", "false"}));
  }
  const int stage = drawn.pp > 1 || drawn.experts ? draw.number({0, 1, 1}) : draw.number({0, 1, 1, 2, 3});
  drawn.sharded = stage >= 2;
  std::string text = fmt::format(", zero: {{stage: {}", stage);
  if (!draw.one_in(3))
    text += ", overlap_grad_reduce: true, bucket: " + std::string(draw.word({"256KiB", "1MiB", "4MiB"}));
  if (stage == 1 && text.ends_with("iB") && draw.one_in(2)) text += ", overlap_param_gather: true";
  if (stage > 0 && draw.one_in(8))
    text += fmt::format(", offload_optimizer: {{device: {}}}", drawn.drives ? "nvme" : "cpu");
  if (stage == 3 && draw.one_in(3)) text += ", offload_param: {device: cpu}";
  return text + "}";
}

std::string expert_layout(Draw& draw, const Drawn& drawn, int tp, int cp) {
  if (!drawn.experts) return "";
  int ep = draw.divisor(tp * cp * drawn.dp, 8);
  while (16 % ep != 0) ep = draw.divisor(tp * cp * drawn.dp, 8);
  std::string text = fmt::format(", ep: {}, etp: 1", ep);
  text += fmt::format(", moe_token_dispatcher_type: {}", draw.word({"alltoall", "alltoall", "allgather", "flex"}));
  if (draw.one_in(3)) text += ", moe_shared_expert_overlap: true";
  if (draw.one_in(4)) text += ", moe_router_load: {deviation: 0.5}";
  return text;
}

// `parallel`, given the machine.
std::string parallel(Draw& draw, Drawn& drawn) {
  int tp = draw.divisor(drawn.gpus, draw.number({2, 4, 8}));
  if (draw.one_in(4)) tp = drawn.gpus;
  if (draw.one_in(8)) tp = draw.divisor(drawn.world(), 16);
  const int heads_tp = 8 % tp == 0 ? tp : 1;
  int left = drawn.world() / heads_tp;
  drawn.pp = draw.one_in(3) ? 1 : draw.divisor(left, draw.number({2, 4, 8}));
  left /= drawn.pp;
  const int cp = draw.one_in(4) ? (left % 2 == 0 ? 2 : 1) * (left % 4 == 0 ? draw.number({1, 2}) : 1) : 1;
  drawn.dp = left / cp;
  std::string text = fmt::format("tp: {}, pp: {}, cp: {}, dp: auto", heads_tp, drawn.pp, cp);
  if (heads_tp > 1 && (draw.one_in(2) || drawn.experts)) text += ", sequence_parallel: true";
  if (text.ends_with("l: true") && draw.one_in(5)) text += ", tp_comm_overlap: true";
  if (cp > 1)
    text += fmt::format(", cp_comm_type: {}", heads_tp * cp <= 4 ? draw.word({"p2p", "all_gather", "a2a"})
                                                                 : draw.word({"p2p", "all_gather"}));
  text += sharding(draw, drawn);
  text += schedule(draw, drawn);
  text += expert_layout(draw, drawn, heads_tp, cp);
  drawn.layers = drawn.pp * 2 * draw.between(1, drawn.pp > 2 ? 1 : 2);
  return text;
}

// Microbatches and layers by the speed of the groups.
std::string shared_by_speed(std::uint64_t seed, const Drawn& drawn, const std::string& layout) {
  Draw draw(seed, "by speed");
  std::string text;
  constexpr std::string_view kOthers[] = {"virtual_stages", "dualpipe", "pipedream", "fsdp"};
  const bool plain = std::ranges::none_of(
      kOthers, [&](std::string_view word) { return layout.find(word) != std::string::npos; });
  if (plain && !drawn.sharded && !drawn.experts && draw.one_in(2)) text += ", microbatch_split: balanced";
  if (plain && drawn.pp > 1 && draw.one_in(2)) text += ", stage_layers: balanced";
  return text;
}

// Fused kernels, divided collectives.
std::string rewritten(std::uint64_t seed, const std::string& layout) {
  Draw draw(seed, "rewritten");
  std::string text;
  if (layout.find("tp_comm_overlap: true") != std::string::npos && draw.one_in(2)) {
    text += fmt::format(", tp_comm_overlap_method: flux, tp_comm_overlap_tiles: {}", draw.number({1, 2, 3}));
  }
  if (draw.one_in(5)) {
    text += fmt::format(", partition: {{dimensions: [{}], substitute: {}, hierarchical: {}, chunks: {}}}",
                        draw.word({"dp", "dp, tp", "dp, mp, embedding"}), draw.word({"true", "false"}),
                        draw.word({"true", "false"}), draw.number({1, 2, 3}));
  }
  return text;
}

// Stages with tensor and data parallelism of their own instead of the layout's, where the rest of it allows that.
void draw_meshes(std::uint64_t seed, Drawn& drawn, std::string& layout) {
  Draw draw(seed, "meshes");
  constexpr std::string_view kOthers[] = {"virtual_stages", "dualpipe",         "pipedream",    "fsdp",    "offload",
                                          "stage: 2",       "microbatch_split", "stage_layers", "stage: 3"};
  const bool plain = std::ranges::none_of(
      kOthers, [&](std::string_view word) { return layout.find(word) != std::string::npos; });
  const std::size_t degrees = layout.find(", cp: 1, dp: auto");
  if (!plain || drawn.experts || drawn.pp == 1 || degrees == std::string::npos || !draw.one_in(3)) return;
  std::vector<int> ranks(static_cast<std::size_t>(drawn.pp), drawn.world() / drawn.pp);
  // A stage in the middle gives half of its ranks away.
  if (drawn.pp > 2 && ranks[1] % 2 == 0 && draw.one_in(2)) {
    ranks[0] += ranks[1] / 2;
    ranks[1] /= 2;
  }
  int replicas = 1;
  std::vector<int> dp;
  std::string stages;
  for (std::size_t stage = 0; stage < ranks.size(); ++stage) {
    const bool as_first = stage + 1 == ranks.size() && ranks[stage] == ranks[0];  // they may share an embedding
    int tp = as_first ? ranks[0] / dp[0] : draw.divisor(ranks[stage], 8);
    if (8 % tp != 0) tp = 1;
    dp.push_back(ranks[stage] / tp);
    replicas = std::max(replicas, dp.back());
    const int layers = drawn.layers / drawn.pp + (stage == 0 ? 1 : stage + 1 == ranks.size() ? -1 : 0);
    stages += fmt::format("{}{{layers: {}, tp: {}, dp: {}}}", stage == 0 ? "" : ", ", layers, tp, dp.back());
  }
  if (std::ranges::any_of(dp, [&](int own) { return replicas % own != 0; }) || ranks.back() != ranks[0]) return;
  drawn.dp = replicas;
  layout.replace(0, degrees + std::string_view(", cp: 1, dp: auto").size(), "stages: [" + stages + "]");
}

// Workers that meet every few steps, where the layout allows it.
std::string workers(std::uint64_t seed, const Drawn& drawn, const std::string& layout) {
  Draw draw(seed, "workers");
  constexpr std::string_view kOthers[] = {"dualpipe", "pipedream", "offload", "microbatch_split", "stages: ["};
  const bool plain = std::ranges::none_of(
      kOthers, [&](std::string_view word) { return layout.find(word) != std::string::npos; });
  if (!plain || drawn.experts || drawn.dp % 2 != 0 || !draw.one_in(6)) return "";
  return fmt::format(", local_sgd: {{workers: 2, sync_every: 4, fragments: {}, overlap: {}, outer_optimizer: {}}}",
                     draw.number({1, 2}), draw.word({"true", "false"}), draw.word({"nesterov", "average"}));
}

// Passes of two microbatches in turns, so that tokens travel meanwhile, where the schedule pairs them.
void overlap_exchanges(std::uint64_t seed, const Drawn& drawn, const std::string& steps, std::string& layout) {
  Draw draw(seed, "overlapped exchanges");
  const bool refused = steps.find("recompute: full") != std::string::npos ||
                       layout.find("moe_shared_expert_overlap") != std::string::npos || drawn.sharded;
  if (!drawn.experts || refused || draw.one_in(3)) return;
  if (drawn.pp > 1) {
    const std::size_t at = layout.find(", schedule: ") + std::string_view(", schedule: ").size();
    layout.erase(at, layout.find(',', at) - at);
    replace_in(layout, ", virtual_stages: 2", "");
    layout.insert(at, draw.word({drawn.pp % 2 == 0 ? "dualpipe" : "dualpipev, virtual_stages: 2",
                                 "dualpipev, virtual_stages: 2", "interleaved-1f1b, virtual_stages: 2"}));
  }
  layout += ", overlap_moe_expert_parallel_comm: true";
}

// The number of chunks of kernels is that of the bytes, the number of steps is not.
std::string model(Draw& draw, const Drawn& drawn) {
  const int hidden = drawn.rung == "chunks" ? draw.number({128, 256}) : draw.number({128, 512, 1024, 1024});
  std::string text = fmt::format(
      "model: {{num_layers: {}, hidden_size: {}, num_attention_heads: 8, ffn_hidden_size: {}, vocab_size: 1024, "
      "seq_length: {}",
      drawn.layers, hidden, 2 * hidden, draw.number({64, 128, 256}));
  if (draw.one_in(4)) text += ", untie_embeddings_and_output_weights: false";
  if (drawn.experts) {
    text += fmt::format(", num_experts: 16, moe_router_topk: {}, moe_ffn_hidden_size: 128", draw.number({2, 4}));
    if (draw.one_in(2)) text += ", moe_shared_expert_intermediate_size: 64";
  }
  return text + "}\n";
}

std::string training(Draw& draw, const Drawn& drawn) {
  // Interleaved and bidirectional schedules need multiples of the stages.
  const int microbatches = drawn.pp > 1 ? 2 * drawn.pp * draw.number({1, 1, 2}) : draw.number({1, 2, 3});
  std::string text = fmt::format("training: {{global_batch: {}", drawn.dp * microbatches);
  if (drawn.old_gpu) text += ", precision: fp16";
  const std::string_view recompute = draw.word({"none", "none", "selective", "full"});
  text += fmt::format(", recompute: {}", recompute);
  if (draw.one_in(4)) text += ", grad_reduce_dtype: bf16";
  return text + "}\n";
}

std::string collectives(Draw& draw, Drawn& drawn) {
  drawn.rung = draw.word({"steps", "steps", "steps", "coupled", "closed_form", "chunks"});
  drawn.network = draw.word({"flow", "flow", "flow", drawn.rung == "coupled" ? "flow" : "alpha_beta"});
  std::string text = fmt::format("collectives: {{model: {}", drawn.rung);
  if (draw.one_in(2)) text += ", tuner: nccl";
  if (drawn.rung != "chunks" && draw.one_in(4)) text += fmt::format(", overhead: {}", draw.word({"none", "kernels"}));
  if (drawn.rung == "steps" && draw.one_in(8)) {
    text += ", step_costs: {message: 300ns, eager: 64KiB, rendezvous: 1us, reduce_rate: 20GB/s}";
  }
  if (draw.one_in(4)) {
    const std::string_view algorithm = draw.word({"ring", "rail_rings", "hierarchical"});
    text += fmt::format(", dp: {{algorithm: {}}}", drawn.rung == "chunks" ? "ring" : algorithm);
  }
  text += "}\n";
  if (drawn.rung == "chunks" && draw.one_in(3)) {
    text += fmt::format("comm: {{plan: {{algorithm: {}, protocol: {}, channels: {}}}}}\n",
                        draw.word({"ring", "tree", "nvls", "nvls_tree", "collnet_chain", "pat", "all_pairs"}),
                        draw.word({"ll", "ll128", "simple"}), draw.number({1, 2, 4}));
  }
  return text;
}

std::string disturbances(Draw& draw, const Drawn& drawn) {
  std::string text;
  if (draw.one_in(4)) text += "interference: {model: share}\n";
  if (draw.one_in(5)) {
    const int host = draw.between(0, drawn.nodes - 1);
    const bool links = drawn.network == "flow" && drawn.nodes > 1 && drawn.fabric != "graph" && drawn.fabric != "torus";
    const std::string nic = fmt::format("nic: host{}/nic0, at: {}us, for: {}us", host, draw.number({0, 50, 300}),
                                        draw.number({50, 400, 5000}));
    switch (links ? draw.between(0, 2) : 0) {
      case 0: text += fmt::format("faults: [{{node: {}, compute_scale: 0.{}}}]\n", host, draw.between(5, 9)); break;
      case 1:
        text += fmt::format("faults: [{{{}{}}}]\n", nic,
                            draw.word({"", ", failover: migrate", ", failover: balance, reroute_after: 20us"}));
        break;
      default: text += fmt::format("faults: [{{{}, state: degraded, factor: 0.25}}]\n", nic); break;
    }
  }
  if (drawn.network == "flow" && drawn.world() > 1 && draw.one_in(6)) {
    const int from = draw.between(0, drawn.world() - 1);
    const int to = (from + draw.between(1, drawn.world() - 1)) % drawn.world();
    text += fmt::format("background: [{{from: [{}], to: [{}], size: {}, at: {}us, repeats: {}, priority: {}}}]\n", from,
                        to, draw.word({"64KiB", "1MiB", "16MiB"}), draw.number({0, 20, 200}), draw.number({1, 5}),
                        draw.word({"low", "high"}));
  }
  return text;
}

// Congestion control instead of shares at once; loss instead of lost bandwidth.
void draw_newer_model(std::uint64_t seed, Drawn& drawn, std::string& disturbed) {
  Draw draw(seed, "newer models");
  if (draw.one_in(2)) replace_in(disturbed, "state: degraded, factor: 0.25", "state: lossy, loss: 1%");
  if (drawn.network == "flow" && drawn.rung != "coupled" && drawn.nodes > 1 && draw.one_in(8)) drawn.network = "dcqcn";
}

}  // namespace

std::string random_scenario(std::uint64_t seed) {
  Draw draw(seed);
  Drawn drawn;
  const std::string machine = random_cluster(seed, draw, drawn);
  drawn.experts = draw.one_in(5);
  std::string layout = parallel(draw, drawn);
  if (drawn.mixed) layout += shared_by_speed(seed, drawn, layout);
  layout += rewritten(seed, layout);
  draw_meshes(seed, drawn, layout);
  const std::string calls = collectives(draw, drawn);
  const std::string shape = model(draw, drawn);
  std::string steps = training(draw, drawn);
  overlap_exchanges(seed, drawn, steps, layout);
  steps.insert(steps.rfind('}'), workers(seed, drawn, layout));
  std::string disturbed = disturbances(draw, drawn);
  draw_newer_model(seed, drawn, disturbed);
  std::string text = shape + steps + "parallel: {" + layout + "}\ncluster: " + machine + "\n" + calls + disturbed;
  if (draw.one_in(4)) text += "compute: {model: roofline}\n";
  return text + fmt::format("simulate: {{network: {}, steps: {}, warmup: {}{}}}\n", drawn.network,
                            draw.number({1, 1, 2, 3}), draw.number({0, 0, 1}),
                            draw.one_in(6) ? ", fast_forward: false" : "");
}

std::uint64_t campaign_number(const char* name, std::uint64_t fallback) {
  const char* const text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

}  // namespace ringwright::configs
