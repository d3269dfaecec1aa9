// A vector of a few plain elements: the first of them lie in the object itself, so that reading a short one touches no
// other line of the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace ringwright {

template <class T, std::uint32_t kInside>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && kInside > 0);

 public:
  InlineVector() {}
  InlineVector(const InlineVector& other) { assign(other.begin(), other.end()); }
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    take(other);
    return *this;
  }
  ~InlineVector() { give_back(); }

  [[nodiscard]] T* begin() { return is_inside() ? inside_ : outside_; }
  [[nodiscard]] const T* begin() const { return is_inside() ? inside_ : outside_; }
  [[nodiscard]] T* end() { return begin() + size_; }
  [[nodiscard]] const T* end() const { return begin() + size_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T& operator[](std::size_t place) { return begin()[place]; }
  [[nodiscard]] const T& operator[](std::size_t place) const { return begin()[place]; }
  [[nodiscard]] T& back() { return begin()[size_ - 1]; }
  [[nodiscard]] const T& back() const { return begin()[size_ - 1]; }

  void push_back(T element) {
    if (size_ == capacity_) grow(size_ + 1);
    std::construct_at(begin() + size_, element);
    ++size_;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  // So many elements, equal to this one.
  void assign(std::size_t count, T element) {
    size_ = 0;
    if (count > capacity_) grow(count);
    std::uninitialized_fill_n(begin(), count, element);
    size_ = static_cast<std::uint32_t>(count);
  }
  // The others keep their order.
  void erase(const T* element) {
    T* const at = begin() + (element - begin());
    std::copy(at + 1, end(), at);
    --size_;
  }
  template <class Holds>
  void erase_if(Holds&& holds) {
    size_ = static_cast<std::uint32_t>(std::remove_if(begin(), end(), holds) - begin());
  }

 private:
  [[nodiscard]] bool is_inside() const { return capacity_ == kInside; }
  void assign(const T* first, const T* last) {
    size_ = 0;
    const auto count = static_cast<std::size_t>(last - first);
    if (count > capacity_) grow(count);
    std::uninitialized_copy(first, last, begin());
    size_ = static_cast<std::uint32_t>(count);
  }
  void grow(std::size_t least) {
    const std::size_t capacity = std::max<std::size_t>(least, 2 * std::size_t{capacity_});
    T* const larger = std::allocator<T>().allocate(capacity);
    std::uninitialized_copy(begin(), end(), larger);
    give_back();
    outside_ = larger;
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  void give_back() {
    if (!is_inside()) std::allocator<T>().deallocate(outside_, capacity_);
  }
  // What the other holds; it is empty afterwards.
  void take(InlineVector& other) {
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, kInside);
    if (is_inside()) {
      std::uninitialized_copy_n(other.inside_, size_, inside_);
    } else {
      outside_ = other.outside_;
    }
  }

  union {
    T inside_[kInside];
    T* outside_;
  };
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInside;
};

}  // namespace ringwright
