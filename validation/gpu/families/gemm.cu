// Matrix products by cuBLASLt: the layers of known models at tensor-parallel sizes 1 to 8, forward, dgrad and wgrad,
// and a grid of shapes from small to large and skewed; bf16, fp16, tf32 and fp8; batched GEMMs of unfused attention.
//
// Sizes are those of a row-major y = x W^T as PyTorch stores it: m tokens, n outputs, k inputs. In cuBLAS'
// column-major letters the forward GEMM is TN, the input's gradient NN, the weight's gradient NT, which here is added
// to an fp32 main gradient as Megatron does.
#include <cstdint>
#include <string>
#include <vector>

#include <cublasLt.h>

#include "buffers.cuh"
#include "check.cuh"
#include "suite.cuh"

namespace ringwright::gpu {

void measure_gemm(const Suite& suite);

namespace {

constexpr std::size_t kWorkspace = 32UL << 20U;  // as PyTorch gives cuBLASLt on Hopper

struct Type {
  const char* name;
  Element element;
  cudaDataType_t data;
  cublasComputeType_t compute;
  const char* op = "cublasLt";
  std::int8_t fast_sums = 0;  // of fp8: partial sums stay in the tensor cores' fewer bits
};
constexpr Type kBf16{"bf16", Element::kBf16, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
constexpr Type kFp16{"fp16", Element::kFp16, CUDA_R_16F, CUBLAS_COMPUTE_32F};
constexpr Type kTf32{"tf32", Element::kFp32, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
constexpr Type kFp8{"fp8", Element::kFp8, CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F};
constexpr Type kFastFp8{"fp8", Element::kFp8, CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F, "cublasLt fast sums", 1};

enum class Role { kForward, kDgrad, kWgrad };

struct Shape {
  long long tokens = 0, outputs = 0, inputs = 0, batch = 1;
};

// A GEMM in cuBLAS' terms: D (rows x columns) = op(A) op(B) + beta C.
struct Gemm {
  long long rows, columns, depth;
  cublasOperation_t op_a, op_b;
  const char* letters;
  bool adds = false;  // to an fp32 result
};

Gemm product_of(Role role, const Shape& shape, bool fp8) {
  // fp8 on Hopper has TN only; libraries transpose the operands beforehand.
  const cublasOperation_t n = CUBLAS_OP_N;
  const cublasOperation_t t = CUBLAS_OP_T;
  switch (role) {
    case Role::kForward: return {shape.outputs, shape.tokens, shape.inputs, t, n, "TN"};
    case Role::kDgrad: return {shape.inputs, shape.tokens, shape.outputs, fp8 ? t : n, n, "NN"};
    case Role::kWgrad: return {shape.inputs, shape.outputs, shape.tokens, fp8 ? t : n, fp8 ? n : t, "NT", true};
  }
  return {};
}

// One GEMM, planned: descriptors, layouts and the heuristic's first algorithm.
class Plan {
 public:
  Plan(cublasLtHandle_t handle, const Type& type, const Gemm& product, long long batch);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  [[nodiscard]] bool exists() const { return found_ > 0; }
  void run(cudaStream_t stream, const void* a, const void* b, void* d, void* workspace) const;

 private:
  cublasLtHandle_t handle_;
  cublasLtMatmulDesc_t description_{};
  cublasLtMatrixLayout_t a_{}, b_{}, d_{};
  cublasLtMatmulHeuristicResult_t choice_{};
  int found_ = 0;
  float beta_ = 0.0F;
};

void set_batch(cublasLtMatrixLayout_t layout, long long batch, long long elements) {
  if (batch == 1) return;
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t stride = elements;
  check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
        "batch count");
  check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
        "batch stride");
}

Plan::Plan(cublasLtHandle_t handle, const Type& type, const Gemm& product, long long batch)
    : handle_(handle), beta_(product.adds ? 1.0F : 0.0F) {
  check(cublasLtMatmulDescCreate(&description_, type.compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
  check(cublasLtMatmulDescSetAttribute(description_, CUBLASLT_MATMUL_DESC_TRANSA, &product.op_a, sizeof product.op_a),
        "op A");
  check(cublasLtMatmulDescSetAttribute(description_, CUBLASLT_MATMUL_DESC_TRANSB, &product.op_b, sizeof product.op_b),
        "op B");
  if (type.fast_sums != 0) {
    check(cublasLtMatmulDescSetAttribute(description_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &type.fast_sums,
                                         sizeof type.fast_sums),
          "fast sums");
  }
  const bool a_turned = product.op_a == CUBLAS_OP_T;
  const bool b_turned = product.op_b == CUBLAS_OP_T;
  const auto rows = static_cast<std::uint64_t>(product.rows);
  const auto columns = static_cast<std::uint64_t>(product.columns);
  const auto depth = static_cast<std::uint64_t>(product.depth);
  const cudaDataType_t result = product.adds ? CUDA_R_32F : type.data == CUDA_R_8F_E4M3 ? CUDA_R_16BF : type.data;
  check(cublasLtMatrixLayoutCreate(&a_, type.data, a_turned ? depth : rows, a_turned ? rows : depth,
                                   a_turned ? product.depth : product.rows),
        "layout A");
  check(cublasLtMatrixLayoutCreate(&b_, type.data, b_turned ? columns : depth, b_turned ? depth : columns,
                                   b_turned ? product.columns : product.depth),
        "layout B");
  check(cublasLtMatrixLayoutCreate(&d_, result, rows, columns, product.rows), "layout D");
  set_batch(a_, batch, product.rows * product.depth);
  set_batch(b_, batch, product.depth * product.columns);
  set_batch(d_, batch, product.rows * product.columns);
  cublasLtMatmulPreference_t preference{};
  check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  const std::size_t workspace = kWorkspace;
  check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                             sizeof workspace),
        "workspace");
  // No algorithm is an answer too: the type is not supported by this GPU or this layout.
  if (cublasLtMatmulAlgoGetHeuristic(handle_, description_, a_, b_, d_, d_, preference, 1, &choice_, &found_) !=
      CUBLAS_STATUS_SUCCESS) {
    found_ = 0;
  }
  check(cublasLtMatmulPreferenceDestroy(preference), "cublasLtMatmulPreferenceDestroy");
}

Plan::~Plan() {
  cublasLtMatrixLayoutDestroy(a_);
  cublasLtMatrixLayoutDestroy(b_);
  cublasLtMatrixLayoutDestroy(d_);
  cublasLtMatmulDescDestroy(description_);
}

void Plan::run(cudaStream_t stream, const void* a, const void* b, void* d, void* workspace) const {
  const float alpha = 1.0F;
  check(cublasLtMatmul(handle_, description_, &alpha, a, a_, b, b_, &beta_, d, d_, d, d_, &choice_.algo, workspace,
                       kWorkspace, stream),
        "cublasLtMatmul");
}

KernelRow row_of(const Type& type, const Gemm& product, const Shape& shape, Role role) {
  const double operand = static_cast<double>(bytes_of(type.element));
  const double result = product.adds ? 8.0 : type.element == Element::kFp8 ? 2.0 : operand;  // fp32: read and written
  const auto rows = static_cast<double>(product.rows);
  const auto columns = static_cast<double>(product.columns);
  const auto depth = static_cast<double>(product.depth);
  const auto batch = static_cast<double>(shape.batch);
  const bool wgrad = role == Role::kWgrad;
  return {.family = "gemm",
          .op = type.op,
          .dtype = type.name,
          .layout = product.letters,
          .m = wgrad ? product.rows : product.columns,
          .n = wgrad ? product.columns : product.rows,
          .k = product.depth,
          .batch = shape.batch,
          .flops = 2.0 * rows * columns * depth * batch,
          .bytes = batch * (operand * depth * (rows + columns) + result * rows * columns)};
}

bool measure_gemm_shape(const Suite& suite, Table& table, cublasLtHandle_t handle, const Buffer& workspace,
                     const Type& type, const Shape& shape, Role role) {
  const Gemm product = product_of(role, shape, type.element == Element::kFp8);
  const KernelRow row = row_of(type, product, shape, role);
  if (!is_missing(table, row)) return true;
  const Plan plan(handle, type, product, shape.batch);
  if (!plan.exists()) {
    suite.progress(std::string("skipped: no ") + type.name + " GEMM " + product.letters + " on this GPU");
    return true;
  }
  const auto elements = [&](long long x, long long y) { return static_cast<std::size_t>(x * y * shape.batch); };
  const RotatingBuffers a(elements(product.rows, product.depth), type.element, 1);
  const RotatingBuffers b(elements(product.columns, product.depth), type.element, 100);
  const bool wide = product.adds || type.element == Element::kFp32;
  const RotatingBuffers d(elements(product.rows, product.columns), wide ? Element::kFp32 : Element::kBf16, 200);
  return measure_kernel(suite, table, row, [&](cudaStream_t stream, int turn) {
    plan.run(stream, a.at<void>(turn), b.at<void>(turn), d.at<void>(turn), workspace.data());
  });
}

// Layers of models (Llama 3 8B, 70B, 405B; GPT-3 13B, 175B) split by tensor parallelism: qkv, projection, up (with
// gate), down.
std::vector<Shape> layer_shapes(Extent extent) {
  struct Model {
    long long hidden, query_key_value, ffn_up, ffn;
  };
  const std::vector<Model> models = {{4096, 6144, 28672, 14336},
                                     {8192, 10240, 57344, 28672},
                                     {16384, 18432, 106496, 53248},
                                     {5120, 15360, 20480, 20480},
                                     {12288, 36864, 49152, 49152}};
  std::vector<Shape> shapes;
  for (const long long tp : {1, 2, 4, 8}) {
    for (const Model& model : models) {
      if (extent != Extent::kFull && model.hidden >= 12288 && tp < 4) continue;  // not a layout in use
      for (const long long tokens : {2048, 4096, 8192}) {
        if (extent != Extent::kFull && tokens == 2048 && tp != 1) continue;
        shapes.push_back({tokens, model.query_key_value / tp, model.hidden});
        shapes.push_back({tokens, model.hidden, model.hidden / tp});
        shapes.push_back({tokens, model.ffn_up / tp, model.hidden});
        shapes.push_back({tokens, model.hidden, model.ffn / tp});
      }
    }
  }
  return shapes;
}

// Squares, flat and deep ones, sizes that do not fill tiles, small ones.
std::vector<Shape> grid_shapes() {
  std::vector<Shape> shapes;
  for (const long long size : {256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384}) {
    shapes.push_back({size, size, size});
  }
  for (const long long tokens : {16, 64, 128, 192, 320, 512, 640, 1000, 1280, 1920, 2560, 3584, 5000}) {
    shapes.push_back({tokens, 4096, 4096});
    shapes.push_back({tokens, 8192, 2048});
    shapes.push_back({tokens, 1024, 8192});
  }
  for (const long long depth : {64, 128, 256, 512, 16384, 32768}) shapes.push_back({2048, 2048, depth});
  for (const long long outputs : {1000, 2304, 32000, 50304, 128256}) shapes.push_back({2048, outputs, 2048});
  return shapes;
}

}  // namespace

void measure_gemm(const Suite& suite) {
  Table table = suite.kernel_table("gemm");
  cublasLtHandle_t handle{};
  check(cublasLtCreate(&handle), "cublasLtCreate");
  const Buffer workspace(kWorkspace);
  const auto all_roles = [&](const Type& type, const Shape& shape) {
    bool time_left = true;
    for (const Role role : {Role::kForward, Role::kDgrad, Role::kWgrad}) {
      time_left = time_left && measure_gemm_shape(suite, table, handle, workspace, type, shape, role);
    }
    return time_left;
  };
  bool time_left = true;
  const std::vector<Shape> layers = layer_shapes(suite.extent);
  const std::vector<Shape> grid = grid_shapes();
  const std::size_t step = suite.extent == Extent::kQuick ? 16 : 1;
  for (std::size_t i = 0; i < grid.size() && time_left; i += step) time_left = all_roles(kBf16, grid[i]);
  for (std::size_t i = 0; i < layers.size() && time_left; i += step) time_left = all_roles(kBf16, layers[i]);
  const std::size_t fp8_step = suite.extent == Extent::kFull ? 1 : 3 * step;
  for (std::size_t i = 0; i < grid.size() && time_left; i += step) time_left = all_roles(kFp8, grid[i]);
  for (std::size_t i = 1; i < layers.size() && time_left; i += fp8_step) time_left = all_roles(kFp8, layers[i]);
  // Frameworks use fast accumulation in the forward pass only.
  const auto fast = [&](const Shape& shape) {
    return measure_gemm_shape(suite, table, handle, workspace, kFastFp8, shape, Role::kForward);
  };
  for (std::size_t i = 0; i < grid.size() && time_left; i += step) time_left = fast(grid[i]);
  for (std::size_t i = 1; i < layers.size() && time_left; i += fp8_step) time_left = fast(layers[i]);
  for (std::size_t i = 0; i < grid.size() && time_left; i += 4 * step) {
    time_left = all_roles(kFp16, grid[i]) && all_roles(kTf32, grid[i]);
  }
  // Scores and context of unfused attention: sequences x heads GEMMs of s x s x d and s x d x s.
  for (const long long heads : {16, 96}) {
    for (const long long sequence : {1024, 2048}) {
      for (const Shape& shape : {Shape{sequence, sequence, 128, heads}, Shape{sequence, 128, sequence, heads}}) {
        time_left = time_left && measure_gemm_shape(suite, table, handle, workspace, kBf16, shape, Role::kForward);
      }
    }
  }
  check(cublasLtDestroy(handle), "cublasLtDestroy");
}

}  // namespace ringwright::gpu
