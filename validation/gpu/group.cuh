// Thread blocks of one GPU as the ranks of a collective: rank r's channel c is block r * channels + c; blocks are all
// resident at once (a cooperative launch), and communicate through connections in device memory.
#pragma once

#include <vector>

#include "buffers.cuh"
#include "fifo.cuh"

namespace ringwright::gpu {

enum class Graph { kRing, kTree };

struct GroupShape {
  Graph graph = Graph::kRing;
  int ranks = 8;
  int channels = 1;
  int threads = 512;
  FifoShape fifo;
};

// The ends of one block: a ring has one in each direction; a tree a parent (index 0) and two children (1 and 2) in
// both directions.
struct BlockEnds {
  Connection in[3];
  Connection out[3];
  int children = 0;
  int level = 0;  // of the tree: 0 is the root, which has no parent
};

struct GroupView {
  GroupShape shape;
  const BlockEnds* ends = nullptr;  // by block
  float2* const* input = nullptr;   // by rank
  float2* const* output = nullptr;
};

class Group {
 public:
  // Each rank has `bytes` of input and of output.
  Group(const GroupShape& shape, std::size_t bytes);

  [[nodiscard]] GroupView view() const;
  [[nodiscard]] const Buffer& input(int rank) const { return inputs_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Buffer& output(int rank) const { return outputs_[static_cast<std::size_t>(rank)]; }

 private:
  Connection connect();
  void join(int from_block, int from_place, int to_block, int to_place);

  GroupShape shape_;
  std::vector<Buffer> memory_;  // slots and counters
  std::vector<BlockEnds> host_ends_;
  std::vector<Buffer> inputs_, outputs_;
  Buffer ends_, input_table_, output_table_;
};

}  // namespace ringwright::gpu
