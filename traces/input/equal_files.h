// Finds files of equal content among many, so that each content is read once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace ringwright::traces {

// Contents are compared decompressed. Only files of one size are looked into: first a hash, and where that is equal,
// every byte.
class EqualFiles {
 public:
  // The number of the file, counted from 0 in order of the calls; or that of an earlier file with the same content,
  // and then this one is not counted. Or what is wrong, to print after the name.
  [[nodiscard]] tl::expected<std::size_t, std::string> number_of(const std::string& path);
  [[nodiscard]] std::size_t count() const { return known_; }

 private:
  struct Known {
    std::string path;
    std::size_t number = 0;
    std::optional<std::uint64_t> hash;  // when a second file of this size has come
  };

  std::map<std::uintmax_t, std::vector<Known>> by_size_;
  std::size_t known_ = 0;
};

}  // namespace ringwright::traces
