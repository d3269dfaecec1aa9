#include "traces/kineto/element_type.h"

#include <algorithm>
#include <array>

namespace ringwright::traces {
namespace {

struct ElementName {
  std::string_view name;
  int bytes;
};

// PyTorch's c10/core/ScalarType.h, and the names of the C++ types in `Input type`.
constexpr std::array kElementNames = {
    ElementName{"Float", 4},
    ElementName{"float", 4},
    ElementName{"Double", 8},
    ElementName{"double", 8},
    ElementName{"Half", 2},
    ElementName{"BFloat16", 2},
    ElementName{"Byte", 1},
    ElementName{"unsigned char", 1},
    ElementName{"Char", 1},
    ElementName{"signed char", 1},
    ElementName{"char", 1},
    ElementName{"Short", 2},
    ElementName{"short", 2},
    ElementName{"short int", 2},
    ElementName{"Int", 4},
    ElementName{"int", 4},
    ElementName{"Long", 8},
    ElementName{"long", 8},
    ElementName{"long int", 8},
    ElementName{"long long", 8},
    ElementName{"Bool", 1},
    ElementName{"bool", 1},
    ElementName{"UInt16", 2},
    ElementName{"UInt32", 4},
    ElementName{"UInt64", 8},
    ElementName{"unsigned int", 4},
    ElementName{"unsigned long", 8},
    ElementName{"unsigned short", 2},
    ElementName{"ComplexFloat", 8},
    ElementName{"ComplexDouble", 16},
    ElementName{"ComplexHalf", 4},
    ElementName{"complex<float>", 8},
    ElementName{"complex<double>", 16},
    ElementName{"Float8_e4m3fn", 1},
    ElementName{"Float8_e5m2", 1},
    ElementName{"Float8_e4m3fnuz", 1},
    ElementName{"Float8_e5m2fnuz", 1},
    ElementName{"Float8_e8m0fnu", 1},
    ElementName{"Float4_e2m1fn_x2", 1},  // two values each
    ElementName{"QInt8", 1},
    ElementName{"QUInt8", 1},
    ElementName{"QInt32", 4},
};

}  // namespace

std::optional<int> element_bytes(std::string_view type) {
  if (type.starts_with("c10::")) type.remove_prefix(5);
  const auto found = std::ranges::find(kElementNames, type, &ElementName::name);
  if (found == kElementNames.end()) return std::nullopt;
  return found->bytes;
}

std::optional<DataType> data_type_of(std::string_view type) {
  if (type.starts_with("c10::")) type.remove_prefix(5);
  if (type == "BFloat16") return DataType::kBf16;
  if (type == "Half") return DataType::kFp16;
  if (type == "float" || type == "Float") return DataType::kFp32;
  if (type.starts_with("Float8_e4m3") || type.starts_with("Float8_e5m2")) return DataType::kFp8;
  return std::nullopt;
}

}  // namespace ringwright::traces
