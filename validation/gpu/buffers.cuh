// Device memory for measurements: random data, and several copies of it in turn, so that no launch finds the data of
// the previous one in the L2 cache. Random, because zeros draw less power and run at higher clocks.
#pragma once

#include <cstddef>
#include <vector>

#include <cuda_runtime.h>

namespace ringwright::gpu {

enum class Element { kFp32, kBf16, kFp16, kFp8, kInt32 };
[[nodiscard]] std::size_t bytes_of(Element element);

// Of the device at hand.
[[nodiscard]] std::size_t l2_bytes();

// One allocation, freed with it.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Uniform in [-1, 1); kInt32: in [0, below).
void fill_random(const Buffer& buffer, Element element, unsigned seed, unsigned below = 0);

// Equal buffers that take turns: together they are larger than twice the L2 cache, and at least two.
class RotatingBuffers {
 public:
  RotatingBuffers(std::size_t elements, Element element, unsigned seed, std::size_t others_bytes = 0);
  template <class T>
  [[nodiscard]] T* at(int turn) const {
    return buffers_[static_cast<std::size_t>(turn) % buffers_.size()].as<T>();
  }

 private:
  std::vector<Buffer> buffers_;
};

}  // namespace ringwright::gpu
