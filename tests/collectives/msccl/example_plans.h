// Execution plans as tests write them.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace ringwright::collectives {

// One GPU of a plan with access to all others: channel and remote buffer i lead to the GPU i + 1 positions ahead.
inline std::string plan_gpu(int rank, int ranks, std::string_view kind, std::string_view remote,
                            std::string_view blocks, int scratch = 0, int inputs = 0) {
  std::string peers;
  std::string buffers;
  for (int d = 1; d < ranks; ++d) {
    peers += fmt::format("{}{}", d > 1 ? ", " : "", (rank + d) % ranks);
    buffers += fmt::format("{}{{\"rank\": {}, \"type\": \"{}\", \"access_channel_types\": [\"{}\"]}}",
                           d > 1 ? ", " : "", (rank + d) % ranks, remote, kind);
  }
  return fmt::format(
      "{{\"id\": {}, \"input_chunks\": {}, \"output_chunks\": {}, \"scratch_chunks\": {},\n"
      "\"channels\": [{{\"channel_type\": \"{}\", \"connected_to\": [{}]}}],\n"
      "\"remote_buffers\": [{}], \"semaphores\": [{{\"init_value\": 0}}],\n\"threadblocks\": [\n{}]}}",
      rank, inputs > 0 ? inputs : ranks, ranks, scratch, kind, peers, buffers, blocks);
}

inline std::string all_peers(int ranks) {
  std::string ids;
  for (int i = 0; i + 1 < ranks; ++i) ids += fmt::format("{}{}", i > 0 ? ", " : "", i);
  return ids;
}

inline std::string plan_block(int id, int ranks, std::string_view kind, std::string_view ops) {
  return fmt::format(
      "{{\"id\": {0}, \"channels\": [{{\"channel_type\": \"{1}\", \"channel_ids\": [{2}]}}],\n"
      "\"remote_buffer_refs\": [{{\"access_channel_type\": \"{1}\", \"remote_buffer_ids\": [{2}]}}],\n"
      "\"ops\": [\n{3}]}}",
      id, kind, all_peers(ranks), ops);
}

inline std::string plan_text(std::string_view collective, std::string_view protocol, std::string_view gpus) {
  return fmt::format(
      "{{\"name\": \"own\", \"collective\": \"{}\", \"protocol\": \"{}\", \"inplace\": true,\n"
      "\"num_threads_per_block\": 512, \"max_message_size\": 18446744073709551615,\n\"gpus\": [\n{}]}}\n",
      collective, protocol, gpus);
}

inline std::string local(char type, int index, int size = 1) {
  return fmt::format("{{\"type\": \"{}\", \"index\": {}, \"size\": {}}}", type, index, size);
}
inline std::string remote(int id, int index, int size = 1) {
  return fmt::format("{{\"buffer_id\": {}, \"index\": {}, \"size\": {}}}", id, index, size);
}

// Every GPU loads its chunk from all others, adds, and stores the sum to all: an all-reduce over NVLink.
inline std::string read_all_plan(int ranks) {
  std::string gpus;
  for (int rank = 0; rank < ranks; ++rank) {
    std::string both = local('i', rank);
    for (int i = 0; i + 1 < ranks; ++i) both += ", " + remote(i, rank);
    const std::string talk = fmt::format("\"channel_ids\": [{}], \"channel_type\": \"memory\"}}", all_peers(ranks));
    const std::string ops = fmt::format(
        "{{\"name\": \"signal\", {0},\n{{\"name\": \"wait\", {0},\n{{\"name\": \"rres\", \"src_buff\": [{1}], "
        "\"dst_buff\": "
        "[{1}], \"channel_type\": \"memory\", \"reduce_op\": \"sum\"}},\n{{\"name\": \"signal\", {0},\n{{\"name\": "
        "\"wait\", {0}\n",
        talk, both);
    gpus += (rank > 0 ? ",\n" : "") + plan_gpu(rank, ranks, "memory", "i", plan_block(0, ranks, "memory", ops));
  }
  return plan_text("allreduce", "Simple", gpus);
}

// Two GPUs send each other packets of their buffers, and each adds the received data: two thread blocks, the second of
// which waits at a barrier or for a semaphore.
inline std::string packet_plan(std::string_view meet_first = "\"barrier\", \"barrier_id\": 0",
                               std::string_view meet_second = "\"barrier\", \"barrier_id\": 0") {
  std::string gpus;
  for (int rank = 0; rank < 2; ++rank) {
    const std::string send = fmt::format(
        "{{\"name\": \"ppkt\", \"src_buff\": [{}], \"dst_buff\": [{}], \"channel_type\": \"memory\"}},\n{{\"name\": "
        "{}}}\n",
        local('i', 0, 2), remote(0, 0, 2), meet_first);
    const std::string add =
        fmt::format("{{\"name\": {}}},\n{{\"name\": \"repkt\", \"src_buff\": [{}, {}], \"dst_buff\": [{}]}}\n",
                    meet_second, local('i', 0, 2), local('s', 0, 2), local('i', 0, 2));
    const std::string blocks = plan_block(0, 2, "memory", send) + ",\n" + plan_block(1, 2, "memory", add);
    gpus += (rank > 0 ? ",\n" : "") + plan_gpu(rank, 2, "memory", "s", blocks, 2);
  }
  return plan_text("allreduce", "LL", gpus);
}

// Every GPU puts its part to all others through ports: an all-gather over the network.
inline std::string port_plan(int ranks, std::string_view put = "put") {
  std::string gpus;
  for (int rank = 0; rank < ranks; ++rank) {
    std::string sources;
    std::string targets;
    for (int i = 0; i + 1 < ranks; ++i) {
      sources += (i > 0 ? ", " : "") + local('o', rank);
      targets += (i > 0 ? ", " : "") + remote(i, rank);
    }
    const std::string talk = fmt::format("\"channel_ids\": [{}], \"channel_type\": \"port\"}}", all_peers(ranks));
    std::string ops =
        fmt::format("{{\"name\": \"{}\", \"src_buff\": [{}], \"dst_buff\": [{}], {},\n", put, sources, targets, talk);
    if (put == "put") ops += fmt::format("{{\"name\": \"signal\", {},\n", talk);
    ops += fmt::format("{{\"name\": \"wait\", {}\n", talk);
    gpus += (rank > 0 ? ",\n" : "") + plan_gpu(rank, ranks, "port", "o", plan_block(0, ranks, "port", ops), 0, 1);
  }
  return plan_text("allgather", "Simple", gpus);
}

}  // namespace ringwright::collectives
