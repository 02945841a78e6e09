// Admission requests for tests of mutators.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "kube/admission.hpp"
#include "local/apiserver/patch/patch.hpp"

namespace plim::kube::testing {

inline json::value parsed(std::string_view text) {
  auto out = parse_json(text);
  EXPECT_TRUE(out) << (out ? "" : out.error().message) << text;
  return out ? std::move(*out) : json::value();
}

inline AdmissionReview creation_of(json::value pod) {
  return {.api_version = "admission.k8s.io/v1",
          .uid = "u",
          .group = "",
          .resource = "pods",
          .subresource = "",
          .ns = "default",
          .name = "",
          .operation = "CREATE",
          .object = std::move(pod)};
}

// The object after admission. A second admission must change nothing.
inline json::value admitted_by(const Mutator& mutate, const json::value& pod) {
  const AdmissionAnswer answer = mutate(creation_of(pod));
  EXPECT_TRUE(answer.allowed) << answer.message;
  auto out = local::apiserver::apply_json_patch(pod, answer.patch);
  EXPECT_TRUE(out) << (out ? "" : out.error().message) << to_json(pod) << to_json(answer.patch);
  if (!out) return {};
  const AdmissionAnswer again = mutate(creation_of(*out));
  EXPECT_TRUE(again.allowed) << again.message << to_json(pod);
  EXPECT_TRUE(again.patch.empty()) << to_json(again.patch) << to_json(pod);
  return *out;
}

// Cuts JSON into pieces and joins them in another way.
class Scissors {
 public:
  // `glue` are JSON texts that replace the removed pieces.
  Scissors(unsigned seed, std::vector<std::string_view> glue)
      : random_(seed), glue_(std::move(glue)) {}

  std::size_t below(std::size_t bound) { return bound ? random_() % bound : 0; }

  void cut(json::value& root) {
    json::value* at = &root;
    while (below(5) != 0 && descend(at)) {
    }
    if (below(12) == 0 && at->is_string() && !at->get_string().empty()) {
      at->get_string()[below(at->get_string().size())] = static_cast<char>(' ' + below(95));
    } else if (below(2) == 0 && at->is_object() && !at->get_object().empty()) {
      at->get_object().erase(at->get_object().begin() + below(at->get_object().size()));
    } else if (below(2) == 0 && at->is_array() && !at->get_array().empty()) {
      json::array& list = at->get_array();
      json::value copy = list[below(list.size())];
      list.insert(list.begin() + below(list.size()), std::move(copy));
    } else if (at != &root) {
      *at = parsed(glue_[below(glue_.size())]);
    }
  }

 private:
  bool descend(json::value*& at) {
    if (at->is_object() && !at->get_object().empty())
      at = &(at->get_object().begin() + below(at->get_object().size()))->value();
    else if (at->is_array() && !at->get_array().empty())
      at = &at->get_array()[below(at->get_array().size())];
    else
      return false;
    return true;
  }

  std::mt19937 random_;
  std::vector<std::string_view> glue_;
};

}  // namespace plim::kube::testing
