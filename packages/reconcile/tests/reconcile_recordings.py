"""What both halves of a vLLM 0.32.0 pair with a store exported of it, recorded on a CPU machine; buckets left out."""

VLLM_PREFILL = """\
# TYPE vllm:mooncake_store_operation_total counter
vllm:mooncake_store_operation_total{engine="0",model_name="tiny",operation="save_exists",status="ok"} 3.0
vllm:mooncake_store_operation_total{engine="0",model_name="tiny",operation="save_put",status="ok"} 1.0
vllm:mooncake_store_operation_total{engine="0",model_name="tiny",operation="load_get",status="ok"} 1.0
# TYPE vllm:mooncake_store_operation_keys_total counter
vllm:mooncake_store_operation_keys_total{engine="0",model_name="tiny",operation="save_exists",status="ok"} 6.0
vllm:mooncake_store_operation_keys_total{engine="0",model_name="tiny",operation="save_put",status="ok"} 2.0
vllm:mooncake_store_operation_keys_total{engine="0",model_name="tiny",operation="load_get",status="ok"} 2.0
# TYPE vllm:mooncake_store_operation_bytes_total counter
vllm:mooncake_store_operation_bytes_total{engine="0",model_name="tiny",operation="save_exists",status="ok"} 0.0
vllm:mooncake_store_operation_bytes_total{engine="0",model_name="tiny",operation="save_put",status="ok"} 32768.0
vllm:mooncake_store_operation_bytes_total{engine="0",model_name="tiny",operation="load_get",status="ok"} 32768.0
# TYPE vllm:mooncake_store_operation_failed_keys_total counter
vllm:mooncake_store_operation_failed_keys_total{engine="0",model_name="tiny",operation="save_exists",status="ok"} 0.0
vllm:mooncake_store_operation_failed_keys_total{engine="0",model_name="tiny",operation="save_put",status="ok"} 0.0
vllm:mooncake_store_operation_failed_keys_total{engine="0",model_name="tiny",operation="load_get",status="ok"} 0.0
# TYPE vllm:external_prefix_cache_queries_total counter
vllm:external_prefix_cache_queries_total{engine="0",model_name="tiny"} 209.0
# TYPE vllm:external_prefix_cache_hits_total counter
vllm:external_prefix_cache_hits_total{engine="0",model_name="tiny"} 64.0
"""

VLLM_DECODE = """\
# TYPE vllm:mooncake_store_operation_total counter
vllm:mooncake_store_operation_total{engine="0",model_name="tiny",operation="lookup_exists",status="ok"} 5.0
vllm:mooncake_store_operation_total{engine="0",model_name="tiny",operation="save_exists",status="ok"} 2.0
# TYPE vllm:mooncake_store_operation_keys_total counter
vllm:mooncake_store_operation_keys_total{engine="0",model_name="tiny",operation="lookup_exists",status="ok"} 10.0
vllm:mooncake_store_operation_keys_total{engine="0",model_name="tiny",operation="save_exists",status="ok"} 4.0
# TYPE vllm:mooncake_store_operation_bytes_total counter
vllm:mooncake_store_operation_bytes_total{engine="0",model_name="tiny",operation="lookup_exists",status="ok"} 0.0
vllm:mooncake_store_operation_bytes_total{engine="0",model_name="tiny",operation="save_exists",status="ok"} 0.0
# TYPE vllm:mooncake_store_operation_failed_keys_total counter
vllm:mooncake_store_operation_failed_keys_total{engine="0",model_name="tiny",operation="lookup_exists",status="ok"} 0.0
vllm:mooncake_store_operation_failed_keys_total{engine="0",model_name="tiny",operation="save_exists",status="ok"} 0.0
# TYPE vllm:external_prefix_cache_queries_total counter
vllm:external_prefix_cache_queries_total{engine="0",model_name="tiny"} 182.0
# TYPE vllm:external_prefix_cache_hits_total counter
vllm:external_prefix_cache_hits_total{engine="0",model_name="tiny"} 182.0
"""
