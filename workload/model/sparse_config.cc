#include "workload/model/sparse_config.h"

#include <array>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

constexpr std::string_view kChosenKey = "dsa_indexer_topk";
constexpr std::array<std::string_view, 3> kIndexerKeys{"dsa_indexer_n_heads", "dsa_indexer_head_dim",
                                                       "dsa_indexer_loss_coeff"};

std::int64_t index_size(ConfigMap& model, std::string_view name, std::string_view doc) {
  return model.integer({.name = name, .doc = doc, .min = 1, .max = 1'000'000});
}

}  // namespace

std::string_view not_sparse(const ModelShape& shape) {
  if (shape.masking == Masking::kBidirectional) return "attention_mask: bidirectional";
  if (shape.window > 0) return "sliding_window";
  if (shape.attention_sinks) return "attention_sinks";
  if (shape.attention_dropout) return "attention_dropout";
  if (shape.adapters) return "lora";
  return {};
}

void read_sparse(ConfigMap& model, ModelShape& shape) {
  SparseIndexer indexer;
  indexer.chosen = model.integer({.name = kChosenKey,
                                  .doc = "DeepSeek sparse attention: tokens that a token attends to, those with the "
                                         "highest scores of an indexer; 0: all",
                                  .fallback = 0,
                                  .min = 0,
                                  .max = 10'000'000});
  if (indexer.chosen == 0 && !model.documenting()) {
    for (const std::string_view key : kIndexerKeys) {
      if (!model.has(key)) continue;
      static_cast<void>(model.setting(key));
      model.warn(key, "W131",
                 fmt::format("{} has no effect without {}", model.path_of(key), model.path_of(kChosenKey)));
    }
    return;
  }
  indexer.heads = index_size(model, "dsa_indexer_n_heads", "heads of the indexer");
  indexer.head_size = index_size(model, "dsa_indexer_head_dim", "size of an index head and of the indexer's key");
  indexer.loss = model.number({.name = "dsa_indexer_loss_coeff",
                               .doc = "weight of the loss that trains the indexer to match the attention's "
                                      "probabilities of the chosen tokens; 0: it is not trained. Only zero or non-zero "
                                      "matters",
                               .fallback = 0.0,
                               .min = 0.0,
                               .max = 1e6}) > 0.0;
  if (model.documenting()) return;
  if (!shape.latent) {
    model.error(kChosenKey, "E464", fmt::format("{} needs multi_latent_attention", model.path_of(kChosenKey)),
                "set multi_latent_attention: true and its sizes");
    return;
  }
  if (const std::string_view other = not_sparse(shape); !other.empty()) {
    model.error(kChosenKey, "E464", fmt::format("{} cannot be combined with {}", model.path_of(kChosenKey), other),
                "remove one of them");
    return;
  }
  if (shape.latent->rotated_size > indexer.head_size) {
    model.error("dsa_indexer_head_dim", "E464",
                fmt::format("{} = {} is smaller than its rotated part, qk_pos_emb_head_dim = {}",
                            model.path_of("dsa_indexer_head_dim"), indexer.head_size, shape.latent->rotated_size));
    return;
  }
  shape.indexer = indexer;
}

}  // namespace ringwright::workload
