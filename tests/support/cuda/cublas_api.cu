// GEMMs without results: only their operands and sizes are checked.
#include "cublas_api.cuh"

#include <vector>

namespace {

std::size_t bytes_of(cudaDataType_t type) {
  return type == CUDA_R_32F ? 4 : type == CUDA_R_8F_E4M3 ? 1 : 2;
}

// Column-major: `columns` columns, each `leading` elements behind the other.
bool lies_there(const void* from, cudaDataType_t type, std::int64_t rows, std::int64_t columns, std::int64_t leading,
                std::int64_t batch = 1, std::int64_t stride = 0) {
  if (rows < 1 || columns < 1 || leading < rows || reinterpret_cast<std::uintptr_t>(from) % 16 != 0) return false;
  const std::int64_t elements = (batch - 1) * stride + (columns - 1) * leading + rows;
  return emulation::covers(from, static_cast<std::size_t>(elements) * bytes_of(type));
}

bool lies_there(const void* from, const cublasLtMatrixLayoutOpaque_t& layout) {
  return lies_there(from, layout.type, static_cast<std::int64_t>(layout.rows),
                    static_cast<std::int64_t>(layout.columns), layout.leading, layout.batch, layout.stride);
}

cublasStatus_t run(cudaStream_t stream) {
  return emulation::launch({}, cudaSuccess, stream, {}) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                       : CUBLAS_STATUS_EXECUTION_FAILED;
}

bool fits(const cublasLtMatmulDescOpaque_t& op, const cublasLtMatrixLayoutOpaque_t& a,
          const cublasLtMatrixLayoutOpaque_t& b, const cublasLtMatrixLayoutOpaque_t& d) {
  const bool a_turned = op.op_a == CUBLAS_OP_T;
  const bool b_turned = op.op_b == CUBLAS_OP_T;
  return (a_turned ? a.columns : a.rows) == d.rows && (b_turned ? b.rows : b.columns) == d.columns &&
         (a_turned ? a.rows : a.columns) == (b_turned ? b.columns : b.rows);
}

}  // namespace

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "unknown";
}
cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                            const void*, const void* a, cudaDataType_t a_type, int lda, const void* b,
                            cudaDataType_t b_type, int ldb, const void*, void* c, cudaDataType_t c_type, int ldc,
                            cublasComputeType_t, cublasGemmAlgo_t) {
  const bool a_turned = op_a == CUBLAS_OP_T;
  const bool b_turned = op_b == CUBLAS_OP_T;
  const bool fine = lies_there(a, a_type, a_turned ? k : m, a_turned ? m : k, lda) &&
                    lies_there(b, b_type, b_turned ? n : k, b_turned ? k : n, ldb) && lies_there(c, c_type, m, n, ldc);
  return fine ? run(handle->stream) : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasGemmGroupedBatchedEx(cublasHandle_t handle, const cublasOperation_t op_a[],
                                          const cublasOperation_t op_b[], const int m[], const int n[], const int k[],
                                          const void*, const void* const a[], cudaDataType_t a_type, const int lda[],
                                          const void* const b[], cudaDataType_t b_type, const int ldb[], const void*,
                                          void* const c[], cudaDataType_t c_type, const int ldc[], int groups,
                                          const int group_size[], cublasComputeType_t) {
  std::size_t index = 0;
  for (int group = 0; group < groups; ++group) {
    const bool a_turned = op_a[group] == CUBLAS_OP_T;
    const bool b_turned = op_b[group] == CUBLAS_OP_T;
    for (int i = 0; i < group_size[group]; ++i, ++index) {
      if (!emulation::covers(a + index, sizeof *a) || !emulation::covers(b + index, sizeof *b) ||
          !emulation::covers(c + index, sizeof *c) ||
          !lies_there(a[index], a_type, a_turned ? k[group] : m[group], a_turned ? m[group] : k[group], lda[group]) ||
          !lies_there(b[index], b_type, b_turned ? n[group] : k[group], b_turned ? k[group] : n[group], ldb[group]) ||
          !lies_there(c[index], c_type, m[group], n[group], ldc[group])) {
        return CUBLAS_STATUS_INVALID_VALUE;
      }
    }
  }
  return run(handle->stream);
}

std::size_t cublasLtGetVersion() {
  return 130000;
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t, cudaDataType_t) {
  *description = new cublasLtMatmulDescOpaque_t;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete description;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute, const void* value,
                                              std::size_t bytes) {
  if (attribute == CUBLASLT_MATMUL_DESC_FAST_ACCUM) {
    return bytes == sizeof(std::int8_t) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
  }
  if (bytes != sizeof(cublasOperation_t)) return CUBLAS_STATUS_INVALID_VALUE;
  (attribute == CUBLASLT_MATMUL_DESC_TRANSA ? description->op_a : description->op_b) =
      *static_cast<const cublasOperation_t*>(value);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t leading) {
  *layout = new cublasLtMatrixLayoutOpaque_t{type, rows, columns, leading};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                std::size_t bytes) {
  const bool is_count = attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
  if (bytes != (is_count ? sizeof layout->batch : sizeof layout->stride)) return CUBLAS_STATUS_INVALID_VALUE;
  if (is_count)
    layout->batch = *static_cast<const std::int32_t*>(value);
  else
    layout->stride = *static_cast<const std::int64_t*>(value);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceOpaque_t;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t, const void* value,
                                                    std::size_t bytes) {
  if (bytes != sizeof preference->workspace) return CUBLAS_STATUS_INVALID_VALUE;
  preference->workspace = *static_cast<const std::size_t*>(value);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int,
                                              cublasLtMatmulHeuristicResult_t* results, int* found) {
  *found = 0;
  if (!fits(*description, *a, *b, *d)) return CUBLAS_STATUS_INVALID_VALUE;
  if (a->type == CUDA_R_8F_E4M3) {
    if (description->op_a != CUBLAS_OP_T || description->op_b != CUBLAS_OP_N) return CUBLAS_STATUS_NOT_SUPPORTED;
    for (const std::uint64_t size : {a->rows, a->columns, b->rows, b->columns, d->rows, d->columns}) {
      if (size % 16 != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    }
  }
  *found = 1;
  results->algo.workspace = preference->workspace;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void*, const void* a,
                              cublasLtMatrixLayout_t layout_a, const void* b, cublasLtMatrixLayout_t layout_b,
                              const void*, const void* c, cublasLtMatrixLayout_t layout_c, void* d,
                              cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  const bool fine = fits(*description, *layout_a, *layout_b, *layout_d) && lies_there(a, *layout_a) &&
                    lies_there(b, *layout_b) && lies_there(c, *layout_c) && lies_there(d, *layout_d) &&
                    algorithm->workspace <= workspace_bytes && emulation::covers(workspace, algorithm->workspace);
  return fine ? run(stream) : CUBLAS_STATUS_INVALID_VALUE;
}
