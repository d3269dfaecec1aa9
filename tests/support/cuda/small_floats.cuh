// Numbers of 16 and 8 bits as CUDA names them; an fp8 has only its sign and exponent, which nothing here reads.
#pragma once

#include <cstdint>

#include "cuda_runtime.h"

struct __nv_bfloat16 {
  std::uint16_t bits = 0;
  __nv_bfloat16() = default;
  explicit __nv_bfloat16(float value)
      : bits(static_cast<std::uint16_t>((bits_as<std::uint32_t>(value) + 0x8000U) >> 16)) {}
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
struct __half {
  std::uint16_t bits = 0;
  __half() = default;
  explicit __half(float value) : bits(static_cast<std::uint16_t>(bits_as<std::uint32_t>(value) >> 16)) {}
};
struct __nv_fp8_e4m3 {
  std::uint8_t bits = 0;
  __nv_fp8_e4m3() = default;
  explicit __nv_fp8_e4m3(float value) : bits(static_cast<std::uint8_t>(bits_as<std::uint32_t>(value) >> 24)) {}
};

inline float __bfloat162float(__nv_bfloat16 value) {
  return bits_as<float>(static_cast<std::uint32_t>(value.bits) << 16);
}
inline __nv_bfloat16 __float2bfloat16(float value) {
  return __nv_bfloat16(value);
}
inline float2 __bfloat1622float2(__nv_bfloat162 pair) {
  return {__bfloat162float(pair.x), __bfloat162float(pair.y)};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 pair) {
  return {__nv_bfloat16(pair.x), __nv_bfloat16(pair.y)};
}
