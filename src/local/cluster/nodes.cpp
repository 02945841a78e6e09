#include "local/cluster/nodes.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/cluster/leftovers.hpp"
#include "local/kubelet/runtime/pod_addresses.hpp"
#include "net/x509.hpp"

namespace plim::local::cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOurNodes = "node.kubernetes.io/instance-type=plimsoll";

const kube::Resource kTokenReviews{"authentication.k8s.io", "v1", "tokenreviews", "TokenReview",
                                   false};
const apiserver::User kNodesUser{.name = "system:plimsoll:nodes", .groups = {"system:masters"}};

// 3 for "n3", 0 for every other name.
int number_of(std::string_view name) {
  if (!name.starts_with('n')) return 0;
  auto number = parse_int<std::uint16_t>(name.substr(1));
  return number && fmt::format("n{}", *number) == name ? *number : 0;
}

bool is_node_name(std::string_view name) {
  auto good = [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '.'; };
  return !name.empty() && name.size() <= 40 && std::ranges::all_of(name, good) &&
         name.front() != '-' && name.front() != '.' && name.back() != '-' && name.back() != '.';
}

apiserver::User user_of(const std::string& node) {
  return {.name = "system:node:" + node, .groups = {"system:nodes", "system:authenticated"}};
}

json::object describe(const ProcessNode& node) {
  json::object out{{"name", node.name()},
                   {"kind", "process"},
                   {"state", node.running() ? "Running" : "Stopped"},
                   {"address", kubelet::PodAddresses(node.index()).node()},
                   {"directory", node.kubelet_dir()},
                   {"pods", 0},
                   {"cgroups", "-"}};
  if (!node.running()) return out;
  out["pods"] = node.node().pods().size();
  out["cgroups"] =
      node.cgroups().available() ? node.cgroups().root() : "none: " + node.cgroups().why_not();
  out["kubeletPort"] = static_cast<int>(node.kubelet_port());
  out["isolated"] = node.node().isolated();
  return out;
}

Task<void> start_one(ProcessNode* node, std::vector<Error>* errors) {
  auto started = co_await node->start();
  if (!started)
    errors->push_back(started.error().with_context(fmt::format("node {}", node->name())));
}

Task<Result<void>> delete_node_object(std::shared_ptr<kube::Client> client, std::string name) {
  kube::ObjectPath path{.ns = "", .name = name};
  auto deleted = co_await client->remove(kube::resources::nodes, path);
  if (!deleted && deleted.error().code != Code::not_found) co_return deleted.error();
  kube::ObjectPath lease{.ns = "kube-node-lease", .name = name};
  (void)co_await client->remove(kube::resources::leases, lease);
  co_return Result<void>();
}

// Accepts everyone that the API server accepts; nodes do not check permissions yet.
Task<Result<void>> allow_known(std::shared_ptr<kube::Client> client, net::Peer peer,
                               std::string token) {
  if (!peer.certificate_user.empty()) co_return Result<void>();
  if (token.empty()) co_return fail(Code::unauthorized, "no credentials");
  json::value review = json::object{{"spec", {{"token", token}}}};
  kube::ObjectPath path{.ns = "", .name = ""};
  auto answer = co_await client->create(kTokenReviews, path, std::move(review));
  bool known = answer && kube::bool_at(*answer, "TokenReview.status.authenticated");
  if (!known) co_return fail(Code::unauthorized, "the token is not known");
  co_return Result<void>();
}

}  // namespace

ClusterNodes::ClusterNodes(Executor loop, Clock& clock, apiserver::ApiServer& api,
                           const ClusterKeys& keys, const ClusterDirectories& directories,
                           NodesOptions options)
    : loop_(loop),
      clock_(clock),
      api_(api),
      keys_(keys),
      directories_(directories),
      options_(std::move(options)),
      client_(api.client(kNodesUser)),
      process_events_(loop),
      tasks_(loop),
      stopping_(loop) {}

Task<Result<void>> ClusterNodes::start() {
  std::vector<ProcessNode*> made;
  Names names;
  for (const NamedNode& node : options_.named) {
    if (!is_node_name(node.name))
      co_return fail(Code::invalid, fmt::format("{} cannot name a node", quote(node.name)));
    names.push_back(node.name);
  }
  std::ranges::move(remembered(), std::back_inserter(names));
  for (int i = 1; i <= options_.count; ++i) names.push_back(fmt::format("n{}", i));
  for (const std::string& name : names) {
    if (nodes_.contains(name)) continue;
    PLIM_CO_TRY(ProcessNode * node, make(name));
    made.push_back(node);
  }
  co_await delete_old_nodes();
  co_return co_await start_all(std::move(made));
}

Task<void> ClusterNodes::stop() {
  co_await tasks_.stop();
  for (auto& [name, node] : nodes_)
    stopping_.spawn("stop a node", node->stop(ProcessNode::Pods::pause));
  co_await stopping_.join();
  nodes_.clear();
  co_await process_events_.stop();
}

Task<Result<ClusterNodes::Names>> ClusterNodes::add(Names names, int count) {
  for (int i = 1; names.size() < static_cast<std::size_t>(count); ++i)
    if (std::string name = fmt::format("n{}", i); !nodes_.contains(name)) names.push_back(name);
  for (const std::string& name : names) {
    if (!is_node_name(name))
      co_return fail(Code::invalid, fmt::format("{} cannot name a node", quote(name)));
    if (nodes_.contains(name))
      co_return fail(Code::already_exists, fmt::format("node {} exists already", name));
  }
  std::vector<ProcessNode*> made;
  for (const std::string& name : names) {
    PLIM_CO_TRY(ProcessNode * node, make(name));
    made.push_back(node);
  }
  PLIM_CO_CHECK(remember());
  PLIM_CO_CHECK(co_await start_all(std::move(made)));
  co_return names;
}

Task<Result<ClusterNodes::Names>> ClusterNodes::remove(Names names) {
  PLIM_CO_TRY(auto found, find(names));
  for (ProcessNode* node : found) {
    const std::string name = node->name(), directory = node->kubelet_dir();
    co_await node->stop(ProcessNode::Pods::end);
    nodes_.erase(name);
    PLIM_CO_CHECK(co_await delete_node_object(client_, name));
    std::error_code ignored;
    fs::remove_all(directory, ignored);
    fs::remove_all(fs::path(directories_.nodes()) / name, ignored);
  }
  PLIM_CO_CHECK(remember());
  co_return names;
}

Task<Result<ClusterNodes::Names>> ClusterNodes::power_off(Names names) {
  PLIM_CO_TRY(auto found, find(names));
  for (ProcessNode* node : found) {
    if (!node->running()) continue;
    co_await node->stop(ProcessNode::Pods::leave);
    co_await end_leftover_pods(fmt::format("{}/{}", directories_.nodes(), node->name()));
  }
  co_return names;
}

Task<Result<ClusterNodes::Names>> ClusterNodes::power_on(Names names) {
  PLIM_CO_TRY(auto found, find(names));
  std::erase_if(found, [](const ProcessNode* node) { return node->running(); });
  PLIM_CO_CHECK(co_await start_all(std::move(found)));
  co_return names;
}

Task<Result<ClusterNodes::Names>> ClusterNodes::change_image(ImageChange change, std::string image,
                                                             Names nodes) {
  if (nodes.empty())
    for (const auto& [name, node] : nodes_) nodes.push_back(name);
  PLIM_CO_TRY(auto found, find(nodes));
  for (ProcessNode* node : found) {
    Result<void> done;
    if (change == ImageChange::load) done = node->images().load(image);
    if (change == ImageChange::remove) done = node->images().remove(image);
    if (change == ImageChange::pull) {
      std::function<void()> nobody = [] {};
      auto pulled = co_await node->images().ensure(image, images::PullPolicy::always, nobody);
      if (!pulled) done = pulled.error();
    }
    if (!done) co_return done.error().with_context(fmt::format("node {}", node->name()));
  }
  co_return nodes;
}

std::optional<node::NodeUsage> ClusterNodes::usage(std::string_view node) {
  auto found = nodes_.find(node);
  if (found == nodes_.end() || !found->second->running()) return std::nullopt;
  return found->second->usage();
}

std::string ClusterNodes::without_cgroups() const {
  for (const auto& [name, node] : nodes_)
    if (node->running() && !node->cgroups().available()) return node->cgroups().why_not();
  return "";
}

json::value ClusterNodes::list() const {
  json::array items;
  for (const auto& [name, node] : nodes_) items.push_back(describe(*node));
  return json::object{{"items", std::move(items)}};
}

json::value ClusterNodes::first() const {
  for (const NamedNode& named : options_.named)
    if (auto found = nodes_.find(named.name); found != nodes_.end())
      return describe(*found->second);
  const ProcessNode* out = nullptr;
  for (const auto& [name, node] : nodes_)
    if (out == nullptr || node->index() < out->index()) out = node.get();
  return out == nullptr ? json::value() : json::value(describe(*out));
}

bool ClusterNodes::is_named(std::string_view name) const {
  return std::ranges::find(options_.named, name, &NamedNode::name) != options_.named.end();
}

ProcessNodeOptions ClusterNodes::options_for(const std::string& name, int index) {
  ProcessNodeOptions out;
  out.node.name = name;
  out.node.index = index;
  out.node.state_dir = directories_.nodes();
  out.node.version = options_.version;
  out.node.api_url = options_.api_url;
  out.node.api_ca_pem = keys_.authority.certificate_pem;
  out.node.isolation = options_.isolation;
  out.node.max_images = options_.max_images;
  out.node.annotate_runs = options_.annotate_runs;
  out.mirrors = options_.mirrors;
  for (const NamedNode& named : options_.named) {
    if (named.name != name) continue;
    out.node.labels = named.labels;
    out.node.taints = named.taints;
  }
  if (auto cpus = options_.cpus.find(name); cpus != options_.cpus.end()) {
    out.cpus = cpus->second;
    out.node.shared_host = false;
  }
  // A cluster of the same name may run on this machine, under another home or user, and a node
  // kills everything in its cgroups when it ends.
  out.cluster =
      fmt::format("{}-{}", directories_.name, net::sha256_hex(directories_.run).substr(0, 6));
  out.kubelet_dir = directories_.node(name);
  out.cgroup_driver = options_.cgroup_driver;
  out.pulls = options_.pulls;
  out.catalog = options_.catalog;
  out.process_events = &process_events_;
  out.access = [client = client_](net::Peer peer, std::string token, std::string, std::string) {
    return allow_known(client, std::move(peer), std::move(token));
  };
  return out;
}

Result<ProcessNode*> ClusterNodes::make(const std::string& name) {
  ProcessNodeOptions options = options_for(name, free_index(name));
  PLIM_TRY(net::KeyPair certificate,
           make_node_certificate(keys_.authority, name,
                                 kubelet::PodAddresses(options.node.index).node(), clock_.wall()));
  options.tls = {.certificate_pem = std::move(certificate.certificate_pem),
                 .key_pem = std::move(certificate.key_pem),
                 .client_ca_pem = keys_.authority.certificate_pem};
  auto node =
      std::make_unique<ProcessNode>(loop_, clock_, api_.client(user_of(name)), std::move(options));
  return (nodes_[name] = std::move(node)).get();
}

Result<std::vector<ProcessNode*>> ClusterNodes::find(const Names& names) {
  std::vector<ProcessNode*> out;
  for (const std::string& name : names) {
    auto found = nodes_.find(name);
    if (found == nodes_.end())
      return fail(Code::not_found, fmt::format("there is no process node {}", quote(name)));
    out.push_back(found->second.get());
  }
  return out;
}

int ClusterNodes::free_index(std::string_view name) const {
  std::set<int> taken;
  for (const auto& [other, node] : nodes_) taken.insert(node->index());
  if (int own = number_of(name); own > 0 && !taken.contains(own)) return own;
  // Names without a number get a high index, which numbered names rarely reach.
  int index = 200;
  while (taken.contains(index)) ++index;
  return index;
}

Task<Result<void>> ClusterNodes::start_all(std::vector<ProcessNode*> nodes) {
  std::vector<Error> errors;
  if (!nodes.empty()) process_events_.start();
  for (ProcessNode* node : nodes) tasks_.spawn("start a node", start_one(node, &errors));
  co_await tasks_.join();
  if (!errors.empty()) co_return errors.front();
  co_return Result<void>();
}

Task<void> ClusterNodes::delete_old_nodes() {
  kube::ListOptions options{.label_selector = std::string(kOurNodes)};
  auto listed = co_await client_->list(kube::resources::nodes, std::move(options));
  if (!listed) co_return;
  for (const json::value& item : kube::list_at(*listed, "ObjectList.items")) {
    std::string name(kube::name_of(item));
    bool simulated = !kube::annotation_of(item, "plimsoll.io/sim").empty();
    if (!simulated && !nodes_.contains(name)) (void)co_await delete_node_object(client_, name);
  }
}

Result<void> ClusterNodes::remember() const {
  json::array names;
  for (const auto& [name, node] : nodes_)
    if (int number = number_of(name); !is_named(name) && (number == 0 || number > options_.count))
      names.emplace_back(name);
  return write_file(directories_.state + "/nodes.json",
                    to_json(json::object{{"added", std::move(names)}}));
}

ClusterNodes::Names ClusterNodes::remembered() const {
  auto text = read_file(directories_.state + "/nodes.json");
  if (!text) return {};
  auto value = parse_json(*text);
  const json::value* names = value ? plim::find(*value, {"added"}) : nullptr;
  Names out;
  if (names != nullptr && names->is_array())
    for (const json::value& name : names->get_array())
      if (name.is_string() && is_node_name(name.get_string())) out.emplace_back(name.get_string());
  return out;
}

}  // namespace plim::local::cluster
