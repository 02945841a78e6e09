// Webhooks as read from their configurations.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "kube/selector.hpp"
#include "local/apiserver/admission/cel.hpp"
#include "local/apiserver/schema/validation.hpp"

namespace plim::local::apiserver {

struct WebhookRule {
  std::vector<std::string> operations;  // CREATE, UPDATE, DELETE, CONNECT or *
  std::vector<std::string> groups;
  std::vector<std::string> versions;
  std::vector<std::string> resources;  // "pods", "pods/status", "pods/*", "*/*"
  std::string scope = "*";             // Namespaced, Cluster or *
};

struct MatchCondition {
  std::string text;
  CelExpression expression;
};

struct Webhook {
  std::string name = {};
  std::string url = {};  // or the service below
  std::string service_namespace = {}, service_name = {}, path = {};
  int service_port = 443;
  std::string ca_pem = {};
  std::vector<WebhookRule> rules = {};
  kube::LabelSelector namespaces = {};
  kube::LabelSelector objects = {};
  std::vector<MatchCondition> conditions = {};
  bool ignore_failures = false;
  bool reinvoke = false;
  std::chrono::seconds timeout{10};
};

// The webhooks of a stored configuration, in its order. Skips invalid ones: configurations are
// checked when they are written.
std::vector<Webhook> webhooks_of(const json::value& configuration);

// The mistakes in a configuration, worded as upstream does.
std::vector<Cause> check_webhooks(const json::value& configuration);

}  // namespace plim::local::apiserver
