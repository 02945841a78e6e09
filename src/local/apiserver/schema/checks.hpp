// Checks that rule tables cannot express and that several tables use.
#pragma once

#include <initializer_list>
#include <string_view>

#include "base/json.hpp"
#include "local/apiserver/schema/causes.hpp"
#include "local/apiserver/schema/place.hpp"

namespace plim::local::apiserver {

void check_metadata(std::string_view group, std::string_view kind, const json::value& object,
                    const json::value* before, Causes& causes);
void check_labels(const Place& labels, Causes& causes);
void check_annotations(const Place& annotations, Causes& causes);

void check_pod_update(const json::value& pod, const json::value& before, Causes& causes);

// For the subresource resize, which changes CPU and memory of containers.
void check_pod_resize(const json::value& pod, const json::value& before, Causes& causes);

// matchLabelKeys and mismatchLabelKeys of a term of pod affinity or of topology spread.
void check_label_keys(const Place& term, const json::value* before, Causes& causes);

void check_resources(const Place& resources, Causes& causes);
enum class Whole { no, yes };
void check_amount(const Place& amount, Whole whole, Causes& causes);

inline constexpr std::string_view kDoesNotMatch = "`selector` does not match template `labels`";
// Checks that the selector is valid and matches these labels.
void check_selector_matches(const Place& selector, const Place& labels, Causes& causes);

// The schedule of a cron job: the five fields of cron, or a word such as @daily.
void check_schedule(const Place& schedule, Causes& causes);

// A part of an object; an empty object if it is missing.
const json::object& object_at(const json::value& value,
                              std::initializer_list<std::string_view> path);
const json::value& value_at(const json::value& value,
                            std::initializer_list<std::string_view> path);  // null if missing

}  // namespace plim::local::apiserver
