#!/bin/bash
# A small model on two hosts, as a script for Megatron-LM.
GPUS_PER_NODE=8
NNODES=2
TP=4
MODEL_ARGS=(
    --num-layers 8 --hidden-size 256 --num-attention-heads 8 --ffn-hidden-size 512
    --seq-length 128 --max-position-embeddings 128 --vocab-size 1000
    --swiglu --normalization RMSNorm --position-embedding-type rope --disable-bias-linear
    --attention-dropout 0.0 --hidden-dropout 0.0 --untie-embeddings-and-output-weights
)
torchrun --nproc-per-node $GPUS_PER_NODE --nnodes $NNODES pretrain_gpt.py ${MODEL_ARGS[@]} \
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size 2 --sequence-parallel \
    --micro-batch-size 1 --global-batch-size 32 --bf16 --use-distributed-optimizer --lr 1e-4
