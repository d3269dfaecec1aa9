#!/bin/bash
# The run of bridge-run.yaml, as a script for Megatron-LM.
torchrun pretrain_gpt.py \
    --num-layers 8 --hidden-size 256 --num-attention-heads 8 --ffn-hidden-size 512 --kv-channels 32 \
    --group-query-attention --num-query-groups 4 --seq-length 128 --vocab-size 1000 \
    --make-vocab-size-divisible-by 128 --swiglu --normalization RMSNorm --position-embedding-type rope \
    --disable-bias-linear --attention-dropout 0.0 --hidden-dropout 0.0 --untie-embeddings-and-output-weights \
    --num-experts 4 --moe-router-topk 2 --moe-ffn-hidden-size 64 --moe-layer-freq '([0]+[1]*7)' \
    --moe-token-dispatcher-type alltoall --moe-grouped-gemm \
    --tensor-model-parallel-size 4 --sequence-parallel --pipeline-model-parallel-size 2 \
    --virtual-pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Ett|tt|tt|ttL' \
    --expert-model-parallel-size 2 --expert-tensor-parallel-size 1 \
    --micro-batch-size 1 --global-batch-size 32 --bf16 --grad-reduce-in-bf16 --attention-backend unfused \
    --recompute-granularity selective --recompute-modules core_attn moe_act --transformer-impl transformer_engine \
    --optimizer adam --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather \
    --ddp-bucket-size 134217728 --use-precision-aware-optimizer --exp-avg-dtype bf16 --lr 1e-4
