#include "workload/parallel/offload.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ringwright::workload {
namespace {

constexpr std::int64_t kMasterBytes = 4;  // of a gradient as the CPU's Adam reads it

// Bytes read and written per parameter: the state twice and a gradient in fp32; with separate passes that gradient
// twice more, and a weight in fp32 that is written in the model's type.
double adam_bytes(std::int64_t state, std::int64_t value, bool passes_apart) {
  const double passes = passes_apart ? 8.0 + 4.0 + static_cast<double>(value) : 0.0;
  return 2.0 * static_cast<double>(state) + 4.0 + passes;
}

}  // namespace

HostTraffic::HostTraffic(const KernelContext& context, const OffloadOptions& options,
                         std::optional<HostStreams> channels)
    : options_(options),
      channels_(channels),
      value_bytes_(options.fp32_shards
                       ? kMasterBytes
                       : static_cast<std::int64_t>(bytes_per_element(context.training.precision))),
      state_bytes_(static_cast<std::int64_t>(context.training.optimizer.state())) {}

TaskIndex HostTraffic::move(ProgramWriter& writer, const CommStream& channel, DmaPath path, Bytes bytes,
                            const std::string& label, const std::vector<TaskIndex>& after) const {
  return writer.send_after(channel, {.peer = 0, .bytes = bytes, .channel = 0, .path = path}, label, after);
}

std::int64_t HostTraffic::offloaded(std::int64_t owned) const {
  if (!updates()) return 0;
  return std::llround(options_.ratio * static_cast<double>(owned));
}

void HostTraffic::begin_step(ProgramWriter& writer, std::int64_t owned) {
  if (updates() && options_.delayed_update) run_update(writer, owned, {});
}

std::vector<TaskIndex> HostTraffic::fetch_parameters(ProgramWriter& writer, std::int64_t elements,
                                                     std::vector<TaskIndex> after) {
  if (!fetches_parameters()) return after;
  const DmaPath path = options_.parameters == Tier::kNvme ? DmaPath::kFromStorage : DmaPath::kFromMemory;
  return {move(writer, channels_->in, path, Bytes(elements * value_bytes_), "host fetch parameters", after)};
}

std::optional<TaskIndex> HostTraffic::store_gradients(ProgramWriter& writer, std::int64_t elements,
                                                      const std::vector<TaskIndex>& after) {
  if (!updates()) return std::nullopt;
  const Bytes bytes(offloaded(elements) * value_bytes_);
  stored_.push_back(move(writer, channels_->out, DmaPath::kToMemory, bytes, "host store gradients", after));
  return stored_.back();
}

std::optional<TaskIndex> HostTraffic::store_bucket(ProgramWriter& writer, std::int64_t elements, bool last_microbatch,
                                                   const std::vector<TaskIndex>& after) {
  const std::optional<TaskIndex> stored = store_gradients(writer, elements, after);
  if (!stored || !options_.blocking_gradients) return stored;
  const Bytes bytes(offloaded(elements) * value_bytes_);
  const TaskIndex back =
      move(writer, channels_->in, DmaPath::kFromMemory, bytes, "host fetch gradients for norm", {*stored});
  if (!last_microbatch) return back;
  const Bytes master(offloaded(elements) * kMasterBytes);
  stored_.push_back(move(writer, channels_->out, DmaPath::kToMemory, master, "host store fp32 gradients", {back}));
  writer.wait(stored_.back());
  return stored_.back();
}

std::optional<TaskIndex> HostTraffic::add_to_stored(ProgramWriter& writer, std::int64_t elements, SectionId sum,
                                                    const std::vector<TaskIndex>& after) {
  if (!updates()) return std::nullopt;
  const Bytes bytes(offloaded(elements) * value_bytes_);
  const TaskIndex fetched = move(writer, channels_->in, DmaPath::kFromMemory, bytes, "host fetch gradients", after);
  const TaskIndex added = writer.compute_on(channels_->out.stream, sum, "add gradients", {fetched});
  return store_gradients(writer, elements, {added});
}

// Sub-group by sub-group. Streams keep the order of each kind; without a pipeline each piece waits for the previous
// one.
void HostTraffic::run_update(ProgramWriter& writer, std::int64_t owned, std::vector<TaskIndex> after) {
  const bool nvme = options_.optimizer == Tier::kNvme;
  std::vector<TaskIndex> last;
  for (std::int64_t left = offloaded(owned); left > 0;) {
    const std::int64_t part = std::min(left, options_.sub_group);
    left -= part;
    std::vector<TaskIndex> ready = after;
    if (!options_.pipelined) ready.insert(ready.end(), last.begin(), last.end());
    if (nvme) {
      ready = {
          move(writer, channels_->in, DmaPath::kFromStorage, Bytes(part * state_bytes_), "host read states", ready)};
    }
    const Bytes touched(std::llround(adam_bytes(state_bytes_, value_bytes_, options_.passes_apart) *
                                     static_cast<double>(part) / options_.adam_efficiency));
    last = {move(writer, channels_->cpu, DmaPath::kWithinMemory, touched, "host adam", ready)};
    std::vector<TaskIndex> done;
    if (nvme) {
      done.push_back(
          move(writer, channels_->out, DmaPath::kToStorage, Bytes(part * state_bytes_), "host write states", last));
    }
    if (options_.parameters == Tier::kGpu) {
      done.push_back(
          move(writer, channels_->in, DmaPath::kFromMemory, Bytes(part * value_bytes_), "host fetch parameters", last));
    }
    if (options_.parameters == Tier::kNvme) {
      done.push_back(
          move(writer, channels_->out, DmaPath::kToStorage, Bytes(part * value_bytes_), "host write parameters", last));
    }
    if (!done.empty()) last = done;
  }
  // Of each stream, the last transfer ends last.
  updated_.insert(updated_.end(), last.begin(), last.end());
}

void HostTraffic::update(ProgramWriter& writer, std::int64_t owned) {
  if (!updates()) return;
  if (!options_.delayed_update) {
    std::vector<TaskIndex> after = std::exchange(stored_, {});
    for (const TaskIndex task : writer.last_computation()) after.push_back(task);
    run_update(writer, owned, std::move(after));
  }
  for (const TaskIndex task : std::exchange(stored_, {})) writer.wait(task);
  for (const TaskIndex task : std::exchange(updated_, {})) writer.wait(task);
}

void HostTraffic::store_activations(ProgramWriter& writer, Bytes bytes) {
  static_cast<void>(
      move(writer, channels_->out, DmaPath::kToMemory, bytes, "host store activations", writer.last_computation()));
}

// Fetched during the preceding computation of the backward pass.
std::optional<TaskIndex> HostTraffic::fetch_activations(ProgramWriter& writer, Bytes bytes) {
  return move(writer, channels_->in, DmaPath::kFromMemory, bytes, "host fetch activations", writer.last_computation());
}

}  // namespace ringwright::workload
