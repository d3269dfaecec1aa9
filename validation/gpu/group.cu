// Groups of blocks: their buffers and connections.
#include "group.cuh"

#include "check.cuh"

namespace ringwright::gpu {
namespace {

constexpr std::size_t kCounters = 4 * 128;  // each counter on a line of its own

template <class T>
Buffer to_device(const std::vector<T>& values) {
  Buffer buffer(values.size() * sizeof(T));
  check(cudaMemcpy(buffer.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return buffer;
}

std::vector<float2*> pointers(const std::vector<Buffer>& buffers) {
  std::vector<float2*> result;
  for (const Buffer& buffer : buffers) result.push_back(buffer.as<float2>());
  return result;
}

std::vector<Buffer> make_buffers(int count, std::size_t bytes) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < count; ++i) {
    buffers.emplace_back(bytes);
    fill_random(buffers.back(), Element::kFp32, static_cast<unsigned>(i));
  }
  return buffers;
}

}  // namespace

Connection Group::connect() {
  const std::size_t slots = static_cast<std::size_t>(shape_.fifo.slot_count) * shape_.fifo.slot_bytes;
  memory_.emplace_back(slots + kCounters);
  const Buffer& memory = memory_.back();
  check(cudaMemset(memory.data(), 0, memory.bytes()), "cudaMemset");  // no flag is 0: steps count from 1
  char* const counters = memory.as<char>() + slots;
  const auto counter = [counters](int i) { return reinterpret_cast<std::uint64_t*>(counters + 128 * i); };
  return {
      .slots = memory.as<char>(), .tail = counter(0), .head = counter(1), .sent = counter(2), .received = counter(3)};
}

void Group::join(int from_block, int from_place, int to_block, int to_place) {
  const Connection connection = connect();
  host_ends_[static_cast<std::size_t>(from_block)].out[from_place] = connection;
  host_ends_[static_cast<std::size_t>(to_block)].in[to_place] = connection;
}

Group::Group(const GroupShape& shape, std::size_t bytes)
    : shape_(shape),
      host_ends_(static_cast<std::size_t>(shape.ranks * shape.channels)),
      inputs_(make_buffers(shape.ranks, bytes)),
      outputs_(make_buffers(shape.ranks, bytes)),
      ends_(1),
      input_table_(to_device(pointers(inputs_))),
      output_table_(to_device(pointers(outputs_))) {
  const auto block = [&](int rank, int channel) { return rank * shape.channels + channel; };
  for (int channel = 0; channel < shape.channels; ++channel) {
    for (int rank = 0; rank < shape.ranks; ++rank) {
      if (shape.graph == Graph::kRing) {
        join(block(rank, channel), 0, block((rank + 1) % shape.ranks, channel), 0);
        continue;
      }
      // A heap: children of r are 2r + 1 and 2r + 2.
      BlockEnds& ends = host_ends_[static_cast<std::size_t>(block(rank, channel))];
      ends.level = rank > 0 ? host_ends_[static_cast<std::size_t>(block((rank - 1) / 2, channel))].level + 1 : 0;
      for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < shape.ranks; ++child) {
        ++ends.children;
        join(block(rank, channel), ends.children, block(child, channel), 0);
        join(block(child, channel), 0, block(rank, channel), ends.children);
      }
    }
  }
  ends_ = to_device(host_ends_);
}

GroupView Group::view() const {
  return {.shape = shape_,
          .ends = ends_.as<BlockEnds>(),
          .input = input_table_.as<float2*>(),
          .output = output_table_.as<float2*>()};
}

}  // namespace ringwright::gpu
