#include "workload/options/document_mix.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

double tokens_of_mix(const std::vector<std::int64_t>& lengths) {
  double sum = 0.0;
  for (const std::int64_t length : lengths) sum += static_cast<double>(length);
  return sum;
}

double pairs_of_document(ModelShape shape, std::int64_t length, bool windowed) {
  shape.sequence = length;
  return score_pairs(shape, windowed && shape.window < length);
}

}  // namespace

// One length for all documents, or those of a mix.
void read_documents(ConfigMap& training, TrainingOptions& options) {
  options.document = training.integer({.name = "document_length",
                                       .doc = "mean tokens of the documents that are packed into a sequence and do "
                                              "not attend to each other (fused attention); 0: one document per "
                                              "sequence",
                                       .fallback = 0,
                                       .min = 0,
                                       .max = 1'000'000'000});
  options.lengths = training.integers({.name = "document_lengths",
                                       .doc = "instead, tokens of documents whose mix fills the sequences: scores "
                                              "grow with the sum of their squares",
                                       .min = 1,
                                       .max = 1'000'000'000});
  options.predicted = training.number({.name = "predicted_tokens",
                                       .doc = "share of tokens whose output is predicted: they are gathered, and "
                                              "logits and loss computed for these alone (masked words: "
                                              "mlm_probability with sparse_prediction, NVIDIA's dense_seq_output)",
                                       .fallback = 1.0,
                                       .min = 1e-6,
                                       .max = 1.0});
  if (options.lengths.empty() || training.documenting()) return;
  if (training.has("document_length")) {
    training.error("document_lengths", "E141",
                   fmt::format("{} and {} both give the length of documents", training.path_of("document_lengths"),
                               training.path_of("document_length")),
                   "remove one of them");
  }
  const auto count = std::ssize(options.lengths);
  const std::int64_t sum = std::accumulate(options.lengths.begin(), options.lengths.end(), std::int64_t{0});
  options.document = std::max<std::int64_t>(1, (sum + count / 2) / count);
}

void warn_of_unfused_documents(ConfigMap& training, const TrainingOptions& options) {
  if (options.document == 0 || options.attention != AttentionKernel::kUnfused) return;
  const std::string_view key = options.lengths.empty() ? "document_length" : "document_lengths";
  training.warn(
      key, "W131",
      fmt::format("{} has no effect: unfused attention computes every score and masks it", training.path_of(key)));
}

double document_pairs(const ModelShape& shape, const TrainingOptions& training, bool windowed) {
  if (training.lengths.empty()) {
    const std::int64_t documents = training.documents(shape.sequence);
    if (documents == 1) return score_pairs(shape, windowed);
    return pairs_of_document(shape, shape.sequence / documents, windowed) * static_cast<double>(documents);
  }
  double pairs = 0.0;
  for (const std::int64_t length : training.lengths) pairs += pairs_of_document(shape, length, windowed);
  return pairs * static_cast<double>(shape.sequence) / tokens_of_mix(training.lengths);
}

std::int64_t attended_documents(const TrainingOptions& training, std::int64_t sequence) {
  if (training.lengths.empty()) return training.documents(sequence);
  double squares = 0.0;
  for (const std::int64_t length : training.lengths)
    squares += static_cast<double>(length) * static_cast<double>(length);
  const double equal = static_cast<double>(sequence) * tokens_of_mix(training.lengths) / squares;
  return std::max<std::int64_t>(1, std::llround(equal));
}

std::int64_t document_chunks(const TrainingOptions& training, std::int64_t sequence, std::int64_t chunk) {
  if (training.lengths.empty()) {
    const std::int64_t documents = training.documents(sequence);
    return documents * ((sequence / documents + chunk - 1) / chunk);
  }
  std::int64_t chunks = 0;
  for (const std::int64_t length : training.lengths) chunks += (length + chunk - 1) / chunk;
  return std::llround(
      std::ceil(static_cast<double>(chunks) * static_cast<double>(sequence) / tokens_of_mix(training.lengths)));
}

}  // namespace ringwright::workload
