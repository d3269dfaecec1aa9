// The table of mistakes in clusters and fabrics.
#include "network_models/error_codes.h"

#include <array>

namespace ringwright::network_models {
namespace {

constexpr std::array kCodes = {
    ErrorCode{.code = "E120",
              .title = "the fabric cannot be built as configured",
              .explanation = "Switches have too few ports for the nodes below them and the links above them at the "
                             "requested ratio, or the shape does not hold the number of nodes.",
              .example = "scalable_unit: 64 with leaf: {ports: 64} needs 64 ports down and 64 up\n"
                         "scalable_unit: 32 with leaf: {ports: 64} has 32 down and 32 up"},
    ErrorCode{.code = "E121",
              .title = "the fabric differs from the configured values",
              .explanation = "A ratio that does not give a whole number of links is rounded up to the next one, so "
                             "the real ratio is lower. A key of another type of fabric has no effect on this one. A "
                             "cable carries what the slower of its two ports does.",
              .example = "oversubscription: \"7:1\" of 32 downlinks is 4.57 uplinks: 5 are built (6.4:1)"},
    ErrorCode{.code = "E122",
              .title = "the components of a node do not fit together",
              .explanation = "A link names a GPU that does not exist, a list has too few entries, or devices cannot "
                             "reach each other.",
              .example = "gpus: 8 with mesh: [\"0-8:1\"]\ngpus: 8 with mesh: [\"0-7:1\"]"},
    ErrorCode{.code = "E123",
              .title = "the network file is wrong",
              .explanation =
                  "A line of the file that lists nodes and links cannot be read, or the network does not fit "
                  "the cluster. Lines are 'node,NAME,KIND' and 'link,FROM,TO,BANDWIDTH,LATENCY'; in YAML there are a "
                  "list `nodes` of {name, kind} and a list `links` of {from, to, bandwidth, latency, duplex}.",
              .example = "link,gpu0,leaf0,50,1us\nlink,gpu0,leaf0,50GB/s,1us"},
    ErrorCode{.code = "E124",
              .title = "a fault cannot be simulated as configured",
              .explanation =
                  "A fault affects one link, NIC, port of a NIC, switch or node. Links and NICs have the names that "
                  "'ringwright topo' prints. A link is down, degraded to a fraction of its bandwidth, or loses a share "
                  "of its packets; a node computes slowly for the whole run.",
              .example = "faults: [{link: \"leaf0.0->spine\", at: 2s}]\n"
                         "faults: [{link: \"leaf0.0->spine0\", at: 2s, for: 30s, state: degraded, factor: 0.5}]"},
    ErrorCode{.code = "E125",
              .title = "a fault or background traffic has no effect",
              .explanation = "It begins after the end of the run, or no job is on its host. Times count from the start "
                             "of the run, warm-up included; "
                             "a run is as long as its training steps.",
              .example = "faults: [{nic: host0/nic0, at: 100s}] in a run of one step of 5 s\n"
                         "faults: [{nic: host0/nic0, at: 2s}]"},
    ErrorCode{.code = "E126",
              .title = "background traffic does not fit the cluster",
              .explanation =
                  "GPUs are numbered through the cluster from 0, host by host. `from` and `to` have the same length: "
                  "the first sends to the first, the second to the second. No GPU sends to itself.",
              .example = "background: [{from: [0, 1], to: [8], size: 1GiB}]\n"
                         "background: [{from: [0, 1], to: [8, 9], size: 1GiB}]"},
    ErrorCode{.code = "E127",
              .title = "the topology of a host cannot be read",
              .explanation = "The file is NCCL's topology XML, which begins with <system>, or the output of "
                             "'nvidia-smi topo -m': a row and a column for each GPU and NIC, and X on the diagonal.",
              .example = "cluster: {node: {nccl_topo: graph.xml}}   # a file of channels, not of the host\n"
                         "cluster: {node: {nccl_topo: topo.xml}}"},
    ErrorCode{.code = "E128",
              .title = "thresholds of a switch's buffer do not fit together",
              .explanation =
                  "A queue marks packets from kmin on, and all of them from kmax on, so that kmin is the smaller one. "
                  "A paused port goes on at xon, which is not above xoff.",
              .example = "simulate: {network: dcqcn, congestion_control: {ecn: {kmin: 400kB, kmax: 100kB}}}\n"
                         "simulate: {network: dcqcn, congestion_control: {ecn: {kmin: 100kB, kmax: 400kB}}}"},
    ErrorCode{.code = "E129",
              .title = "the cluster is no product of ASTRA-sim's dimensions",
              .explanation =
                  "'simulate.network: astra_unaware' and 'astra_aware' see rings, switches and fully connected groups "
                  "of equivalent nodes: GPUs of equal hosts, and hosts under switches or on a torus. astra_aware has "
                  "one dimension, as ASTRA-sim's congestion-aware network. There are no paths to host memory and "
                  "drives. A fabric of type 'astra' states the dimensions; their product is the number of GPUs.",
              .example = "simulate: {network: astra_aware}   # 4 nodes of 8 GPUs are two dimensions\n"
                         "simulate: {network: astra_unaware}"},
};

}  // namespace

std::span<const ErrorCode> network_error_codes() {
  return kCodes;
}

}  // namespace ringwright::network_models
