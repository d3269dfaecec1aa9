// Hosts, then a fabric that suits their number and NICs.
#include "tests/configs/campaign/random_machine.h"

#include <fmt/format.h>

#include "tests/paths.h"

namespace ringwright::configs {
namespace {

std::string node(Draw& draw, Drawn& drawn) {
  switch (draw.number({0, 0, 0, 0, 0, 1, 2, 3, 3, 4, 5, 6, 7})) {
    case 0: drawn.gpus = drawn.nics = 8; return "{preset: dgx-h100}";
    case 1: drawn.gpus = drawn.nics = 8; return "{preset: dgx-a100}";
    case 2:
      drawn.gpus = 8;
      drawn.nics = 4;
      drawn.old_gpu = true;
      return "{preset: dgx1-v100}";
    case 3:
      drawn.gpus = drawn.nics = 4;
      drawn.drives = true;
      return "{preset: dgx-h100, gpus: 4, pcie: {switches: 4}, nic: {count: 4}, storage: {drives: 2, read: 7GB/s, "
             "write: "
             "4GB/s}}";
    case 4: drawn.gpus = 4; return "{preset: dgx-h100, gpus: 4, pcie: {switches: 2}, nic: {count: 1}}";
    case 5:
      drawn.gpus = 4;
      drawn.nics = 2;
      return "{preset: dgx-a100, gpus: 4, nvlink: {kind: none}, pcie: {switches: 2}, nic: {count: 2}}";
    case 6: drawn.gpus = drawn.nics = 2; return "{preset: dgx-h100, gpus: 2, pcie: {switches: 2}, nic: {count: 2}}";
    default:
      drawn.gpus = 1;
      return "{preset: dgx-h100, gpus: 1, pcie: {switches: 1}, nvlink: {kind: none}, nic: {count: 1}}";
  }
}

std::string routing(Draw& draw, bool rails) {
  const std::string_view policy = rails ? draw.word({"static", "d_mod_k", "ecmp", "ecmp", "ecmp", "spray"})
                                        : draw.word({"static", "ecmp", "ecmp", "spray"});
  if (policy != "ecmp") return fmt::format("policy: {}", policy);
  return fmt::format("policy: ecmp, hash_seed: {}, queue_pairs: {}", draw.between(0, 99), draw.number({1, 1, 2, 3}));
}

// Leaves just large enough have few uplinks, on which hashed routes collide.
std::string clos(Draw& draw, std::string_view type, const Drawn& drawn) {
  const int unit = draw.number({1, 2, 3, 4, drawn.nodes, drawn.nodes, drawn.nodes, drawn.nodes});
  const int down = type == "fat_tree" ? unit * drawn.nics : unit;
  const bool cores = type != "rail_only" && draw.one_in(4);
  std::string text = fmt::format("type: {}, scalable_unit: {}, leaf: {{ports: {}{}}}, spine: {{ports: {}}}", type, unit,
                                 draw.one_in(2) ? std::max(2 * down, 2) : 64,
                                 draw.one_in(3) ? ", oversubscription: \"2:1\"" : "", draw.number({32, 64}));
  if (cores) text += fmt::format(", tiers: 3, pod: {}, core: {{ports: 64}}", draw.number({1, 2}));
  if (draw.one_in(4)) text += ", reduction: {enabled: true}";
  return text + ", routing: {" + routing(draw, true) + "}";
}

std::string torus(Draw& draw, int nodes) {
  const int side = draw.divisor(nodes, nodes);
  const std::string dims =
      side == 1 || side == nodes ? fmt::format("[{}]", nodes) : fmt::format("[{}, {}]", side, nodes / side);
  return fmt::format("type: torus, dims: {}{}", dims, draw.one_in(3) ? ", wrap: false" : "");
}

std::string dragonfly(Draw& draw) {
  const std::string_view type = draw.word({"dragonfly", "dragonfly_plus"});
  std::string text = fmt::format("type: {}, switches: {}, nodes_per_switch: {}, global: {{links: {}}}", type,
                                 draw.number({1, 2}), draw.number({1, 2}), draw.number({1, 2, 4}));
  const std::string_view paths = draw.word({"minimal", "minimal", "valiant", "adaptive"});
  const bool sprays = paths == "minimal" && draw.one_in(3);
  return text + fmt::format(", routing: {{paths: {}, {}}}", paths,
                            sprays           ? "policy: spray"
                            : draw.one_in(2) ? "policy: static"
                                             : "policy: ecmp");
}

// Hosts of one kind, or of two: the second with an older or a newer GPU, or with other NICs. By a stream of its own, so
// that everything else is drawn as without groups.
std::string hosts(std::uint64_t seed, Drawn& drawn, const std::string& host) {
  Draw draw(seed, "groups");
  if (drawn.nodes < 2 || drawn.old_gpu || !draw.one_in(6)) return fmt::format("nodes: {}, node: {}", drawn.nodes, host);
  drawn.mixed = true;
  std::string other = host;
  const std::size_t newer = other.find("dgx-h100");
  if (newer != std::string::npos && draw.one_in(2)) other.replace(newer, 8, "dgx-a100");
  const std::size_t nic = other.find("nic: {");
  const std::string slow = "bandwidth: 100Gbps";
  if (nic != std::string::npos) other.insert(nic + 6, slow + ", ");
  if (nic == std::string::npos && draw.one_in(2)) other.insert(other.size() - 1, ", nic: {" + slow + "}");
  if (nic == std::string::npos && drawn.gpus == 8 && draw.one_in(3)) {
    other = "{preset: dgx-h100, pcie: {switches: 4}, nic: {count: 4, " + slow + "}}";
  }
  const int first = draw.between(1, drawn.nodes - 1);
  std::string text = fmt::format("{{nodes: {}, node: {}}}", first, host);
  const char* const staged = draw.one_in(4) ? "gpudirect: false, " : "";
  return fmt::format("groups: [{}, {{nodes: {}, {}node: {}}}]", text, drawn.nodes - first, staged, other);
}

std::string cluster(std::uint64_t seed, Draw& draw, Drawn& drawn) {
  if (draw.one_in(20)) {
    drawn.nodes = 4;
    drawn.fabric = "graph";
    return fmt::format(
        "{{nodes: 4, node: {{gpus: 1, gpu: {{preset: h100-sxm5-80gb}}}}, fabric: {{type: graph, file: {}, "
        "through_gpus: false, routing: {{{}}}}}}}",
        test_data() + "/configs/four-hosts.yaml", routing(draw, false));
  }
  const std::string host = node(draw, drawn);
  drawn.nodes = draw.number({1, 2, 2, 3, 4, 4, 4, 6, 8, 8});
  drawn.nodes = std::min(drawn.nodes, std::max(1, (draw.one_in(8) ? 64 : 32) / drawn.gpus));
  drawn.fabric = drawn.nodes == 1 ? "single_node"
                                  : std::string(draw.word({"rail_optimized", "rail_optimized", "rail_optimized",
                                                           "fat_tree", "fat_tree", "rail_only", "torus", "dragonfly"}));
  std::string text = "type: single_node";
  if (drawn.fabric == "torus") text = torus(draw, drawn.nodes);
  if (drawn.fabric == "dragonfly") text = dragonfly(draw);
  if (drawn.fabric.starts_with("rail") || drawn.fabric == "fat_tree") text = clos(draw, drawn.fabric, drawn);
  return fmt::format("{{{}, fabric: {{{}}}}}", hosts(seed, drawn, host), text);
}

// Central routing, twisted tori, circuits instead of switches, two ports a NIC. By a stream of its own.
void draw_newer_fabric(std::uint64_t seed, Drawn& drawn, std::string& machine) {
  Draw draw(seed, "newer fabrics");
  if (draw.one_in(4)) replace_in(machine, "policy: ecmp", "policy: central");
  const bool clos = drawn.fabric.starts_with("rail") || drawn.fabric == "fat_tree";
  if (clos && draw.one_in(6)) replace_in(machine, "scalable_unit", "dual_tor: true, scalable_unit");
  if (drawn.fabric != "torus" || !draw.one_in(2)) return;
  const auto routed = fmt::format(", routing: {{policy: {}}}", draw.word({"static", "ecmp", "spray", "central"}));
  if (draw.one_in(2)) {
    machine.resize(machine.find("type: torus"));
    machine += fmt::format("type: patch_panel, degree: {}{}}}}}", draw.number({1, 1, 2}), draw.one_in(2) ? routed : "");
    return;
  }
  if (drawn.gpus <= 2 && !drawn.mixed) {
    replace_in(machine, fmt::format("nodes: {}", drawn.nodes), "nodes: 18");
    drawn.nodes = 18;
    machine.resize(machine.find("type: torus"));
    machine += fmt::format("type: torus, dims: [3, 6], twist: true{}}}}}", draw.one_in(2) ? routed : "");
  } else if (routed.find("central") == std::string::npos) {
    replace_in(machine, ", wrap: false", "");
    machine.insert(machine.size() - 2, routed);
  }
}

}  // namespace

void replace_in(std::string& text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

std::string random_cluster(std::uint64_t seed, Draw& draw, Drawn& drawn) {
  std::string machine = cluster(seed, draw, drawn);
  draw_newer_fabric(seed, drawn, machine);
  return machine;
}

}  // namespace ringwright::configs
