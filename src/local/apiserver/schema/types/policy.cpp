// The group policy.
#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

constexpr Field kPodDisruptionBudgetSpecFields[] = {
    {.name = "minAvailable", .scalar = Scalar::int_or_string, .keep_zero = true, .number = 1},
    {.name = "selector",
     .scalar = Scalar::object,
     .type = &kLabelSelector,
     .replace = true,
     .atomic = true,
     .keep_zero = true,
     .number = 2},
    {.name = "maxUnavailable", .scalar = Scalar::int_or_string, .keep_zero = true, .number = 3},
    {.name = "unhealthyPodEvictionPolicy", .keep_zero = true, .number = 4},
};
constexpr Type kPodDisruptionBudgetSpec{.name = "PodDisruptionBudgetSpec",
                                        .fields = kPodDisruptionBudgetSpecFields};

constexpr Field kPodDisruptionBudgetStatusFields[] = {
    {.name = "observedGeneration", .scalar = Scalar::int64, .number = 1},
    {.name = "disruptedPods", .scalar = Scalar::time, .shape = Shape::map, .number = 2},
    {.name = "disruptionsAllowed", .scalar = Scalar::int32, .required_zero = true, .number = 3},
    {.name = "currentHealthy", .scalar = Scalar::int32, .required_zero = true, .number = 4},
    {.name = "desiredHealthy", .scalar = Scalar::int32, .required_zero = true, .number = 5},
    {.name = "expectedPods", .scalar = Scalar::int32, .required_zero = true, .number = 6},
    {.name = "conditions",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kCondition,
     .list = ListKind::map,
     .list_keys = "type",
     .merge_key = "type",
     .merge = true,
     .number = 7},
};
constexpr Type kPodDisruptionBudgetStatus{.name = "PodDisruptionBudgetStatus",
                                          .fields = kPodDisruptionBudgetStatusFields};

constexpr Field kPodDisruptionBudgetFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "spec",
     .scalar = Scalar::object,
     .type = &kPodDisruptionBudgetSpec,
     .required_zero = true,
     .number = 2},
    {.name = "status",
     .scalar = Scalar::object,
     .type = &kPodDisruptionBudgetStatus,
     .required_zero = true,
     .number = 3},
};
constexpr Type kPodDisruptionBudget{.name = "PodDisruptionBudget",
                                    .fields = kPodDisruptionBudgetFields};

constexpr Field kEvictionFields[] = {
    {.name = "kind"},
    {.name = "apiVersion"},
    {.name = "metadata",
     .scalar = Scalar::object,
     .type = &kObjectMeta,
     .required_zero = true,
     .number = 1},
    {.name = "deleteOptions",
     .scalar = Scalar::object,
     .type = &kDeleteOptions,
     .keep_zero = true,
     .number = 2},
};
constexpr Type kEviction{.name = "Eviction", .fields = kEvictionFields};

}  // namespace plim::local::apiserver
