#include "configs/simulation/known_overheads.h"

#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/sha256.h"
#include "configs/simulation/pair_router.h"

namespace ringwright::configs {
namespace {

template <class Table>
std::size_t size_of(const Table& table) {
  std::size_t size = 0;
  for (const auto& [bytes, known] : table) size += known.size();
  return size;
}

// Of all its fields: the names below are as many.
std::string text_of(const HostPath& path) {
  const auto& [order, in, out, relay] = path;
  return fmt::format("{} {} {} {}", fmt::join(order, ","), in, out, relay);
}

std::string text_of(const CollectivePlan& plan) {
  const auto& [algorithm, protocol, channels, threads, chunk, grain, paths, kind_of_host, ordered, spreads_nics, heads,
               message_channels, pxn] = plan;
  std::string text =
      fmt::format("{};{};{};{};{};{};{};{};{};{};{};{}", algorithm, to_string(protocol), channels, threads,
                  chunk.count(), grain.count(), fmt::join(kind_of_host, ","), ordered, spreads_nics, heads,
                  message_channels, pxn);
  for (const std::vector<HostPath>& of_kind : paths) {
    text += '|';
    for (const HostPath& path : of_kind) text += text_of(path) + '/';
  }
  return text;
}

std::string text_of(const StepCosts& costs) {
  const auto& [message, eager, rendezvous, reduce_rate, copy_rate] = costs;
  return fmt::format("{};{};{};{};{}", message.count(), eager.count(), rendezvous.count(),
                     reduce_rate.count(), copy_rate.count());
}

// Primitives of all members that are worth more than a line of a file.
constexpr double kWorthALine = 20e3;
constexpr double kUsualChunk = 256.0 * 1024.0;

}  // namespace

void KnownOverheads::retain_in(OverheadStore* store, const std::string& machine) {
  store_ = store;
  machine_ = store == nullptr ? "" : sha256(machine);
}

bool KnownOverheads::is_costly(const Key& key) {
  const auto members = static_cast<double>(key.host_of.size());
  const double of_member = members * key.plan.channels + static_cast<double>(key.bytes.count()) / kUsualChunk;
  return members * of_member > kWorthALine;
}

std::string KnownOverheads::name_in_store(std::string_view what, const Key& key) const {
  const auto& [kind, bytes, root, algorithm, step_costs, progress, plan, host_of, gpu_of, nic_set, model, basis] = key;
  return fmt::format("{}\n{} {}\n{}\n{} {} {} {} {}\n{}\n{}\n{}\n{}\n{}\n{}", machine_, what,
                     static_cast<int>(accuracy_), to_string(kind), bytes.count(), root, algorithm,
                     static_cast<int>(progress), static_cast<int>(basis), text_of(step_costs), text_of(plan),
                     fmt::join(host_of, ","), fmt::join(gpu_of, ","), fmt::join(nic_set, ","), model);
}

std::uint32_t KnownOverheads::paths_between(const Router& router, RankId sender, RankId receiver) {
  const bool many_steps = accuracy_ == OverheadAccuracy::kInterpolated;
  const std::uint64_t pair = std::uint64_t{sender.value} << 32 | receiver.value;
  if (many_steps) {
    const std::scoped_lock lock(mutex_);
    if (const auto known = paths_of_pair_.find(pair); known != paths_of_pair_.end()) return known->second;
  }
  std::vector<std::uint64_t> signature = PairRouter(router, sender, receiver).signature();
  const std::scoped_lock lock(mutex_);
  const std::uint32_t paths =
      paths_.try_emplace(std::move(signature), static_cast<std::uint32_t>(paths_.size())).first->second;
  if (many_steps) paths_of_pair_.emplace(pair, paths);
  return paths;
}

std::size_t KnownOverheads::size() const {
  const std::scoped_lock lock(mutex_);
  return size_of(known_) + size_of(known_messages_);
}

}  // namespace ringwright::configs
