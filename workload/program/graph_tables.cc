#include "workload/program/graph_tables.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ringwright::workload {
namespace {

bool same_launch(const Kernel& a, const Kernel& b) {
  const auto sizes = [](const Kernel& k) {
    return std::tie(k.family, k.type, k.m, k.n, k.k, k.batch, k.role, k.mask, k.flops, k.bytes, k.name, k.share_of,
                    k.serial_steps, k.concurrent, k.host_paced, k.issue);
  };
  return sizes(a) == sizes(b);
}

void add_kernel(Work& work, const Kernel& kernel) {
  const auto known =
      std::ranges::find_if(work.kernels, [&kernel](const Kernel& other) { return same_launch(other, kernel); });
  if (known == work.kernels.end()) {
    work.kernels.push_back(kernel);
    return;
  }
  known->launches += kernel.launches;
}

}  // namespace

// Sections are few: every stage that needs one makes it again.
SectionId GraphTables::add_section(std::vector<Kernel> kernels) {
  const auto known = std::ranges::find_if(sections_, [&kernels](const std::vector<Kernel>& section) {
    return std::ranges::equal(section, kernels, same_launch);
  });
  if (known != sections_.end()) return static_cast<SectionId>(known - sections_.begin());
  sections_.push_back(std::move(kernels));
  return static_cast<SectionId>(sections_.size() - 1);
}

std::uint32_t GraphTables::work(const std::vector<SectionId>& sections, std::string_view name) {
  const auto [entry, is_new] = work_of_.try_emplace(sections, static_cast<std::uint32_t>(works_.size()));
  if (!is_new) return entry->second;
  Work work{.name = std::string(name), .kernels = {}};
  for (const SectionId section : sections) {
    for (const Kernel& kernel : sections_[section]) add_kernel(work, kernel);
  }
  works_.push_back(std::move(work));
  return entry->second;
}

std::uint32_t GraphTables::collective(const CollectiveSpec& spec) {
  const auto [entry, is_new] =
      collective_of_.try_emplace({spec.kind, spec.bytes.count()}, static_cast<std::uint32_t>(collectives_.size()));
  if (is_new) collectives_.push_back(spec);
  return entry->second;
}

// Stages with equal layers use equal segments.
std::uint32_t GraphTables::segment(Segment segment) {
  const auto known = std::ranges::find(segments_, segment);
  if (known != segments_.end()) return static_cast<std::uint32_t>(known - segments_.begin());
  segments_.push_back(std::move(segment));
  return static_cast<std::uint32_t>(segments_.size() - 1);
}

void GraphTables::move_into(TaskGraph& graph) {
  graph.works = std::move(works_);
  graph.collectives = std::move(collectives_);
  graph.messages = messages_.take();
  graph.segments = std::move(segments_);
  graph.labels = labels_.take();
}

}  // namespace ringwright::workload
