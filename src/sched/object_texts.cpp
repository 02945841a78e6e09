#include "sched/object_texts.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "kube/object.hpp"

namespace plim::sched {
namespace {

constexpr std::int64_t kNodePage = 500;

void erase_text(kube::TextMap<std::string>& texts, std::string_view key) {
  if (auto found = texts.find(key); found != texts.end()) texts.erase(found);
}

}  // namespace

Result<std::string> text_for_extenders(std::string_view object) {
  PLIM_TRY(json::value value, parse_json(object));
  json::object* fields = value.if_object();
  if (fields == nullptr) return fail(Code::invalid, "expected an object");
  fields->stable_erase("kind");
  fields->stable_erase("apiVersion");
  if (json::value* meta = fields->if_contains("metadata"); meta != nullptr && meta->is_object())
    meta->get_object().stable_erase("managedFields");
  return to_json(value);
}

void ObjectTexts::want(bool pods, bool nodes) {
  want_pods_ = pods;
  want_nodes_ = nodes;
  if (!pods) pods_.clear();
  if (!nodes) nodes_.clear();
}

template <class T>
kube::Codec<T> ObjectTexts::wrap(kube::Codec<T> codec, const bool& wanted) {
  auto one = [this, &wanted, plain = codec.one](kube::JsonText text) -> Result<T> {
    PLIM_TRY(T made, plain(text));
    if (wanted) keep(made, text.view());
    return made;
  };
  kube::Codec<T> keeping = kube::codec_of<T>(one);
  auto list = [&wanted, plain = std::move(codec.list), keeping = std::move(keeping.list)](
                  kube::JsonText text, const kube::Visit<T>& visit) {
    return wanted ? keeping(text, visit) : plain(text, visit);
  };
  return {std::move(one), std::move(list)};
}

kube::Codec<kube::Pod> ObjectTexts::keeping(kube::Codec<kube::Pod> codec) {
  return wrap(std::move(codec), want_pods_);
}

kube::Codec<kube::Node> ObjectTexts::keeping(kube::Codec<kube::Node> codec) {
  return wrap(std::move(codec), want_nodes_);
}

void ObjectTexts::keep(const kube::Pod& pod, std::string_view text) {
  if (!pod.spec.node_name.empty()) return forget_pod(pod.meta.uid);
  if (auto form = text_for_extenders(text)) pods_.insert_or_assign(pod.meta.uid, std::move(*form));
}

void ObjectTexts::keep(const kube::Node& node, std::string_view text) {
  if (auto form = text_for_extenders(text))
    nodes_.insert_or_assign(node.meta.name, std::move(*form));
}

void ObjectTexts::forget_pod(std::string_view uid) {
  erase_text(pods_, uid);
}

void ObjectTexts::forget_node(std::string_view name) {
  erase_text(nodes_, name);
}

Task<Result<std::string>> ObjectTexts::pod(PodPointer pod) {
  if (auto found = pods_.find(pod->meta.uid); found != pods_.end()) co_return found->second;
  kube::ObjectPath path{.ns = std::string(pod->meta.ns), .name = pod->meta.name};
  PLIM_CO_TRY(const json::value object, co_await client_->get(kube::resources::pods, path));
  if (kube::uid_of(object) != pod->meta.uid)
    co_return fail(Code::not_found, "the pod is gone, another one has its name");
  co_return text_for_extenders(to_json(object));
}

Task<Result<void>> ObjectTexts::list_nodes() {
  kube::ListOptions page{.limit = kNodePage};
  do {
    PLIM_CO_TRY(std::string text, co_await client_->list_page(kube::resources::nodes, page));
    auto read =
        kube::decode_list(kube::JsonText(text), [this](kube::JsonText item) -> Result<void> {
          PLIM_TRY(const json::value node, parse_json(item.view()));
          PLIM_TRY(std::string form, text_for_extenders(item.view()));
          nodes_.insert_or_assign(std::string(kube::name_of(node)), std::move(form));
          return {};
        });
    if (!read) co_return read.error();
    page.continue_token = read->continue_token;
  } while (!page.continue_token.empty());
  co_return Result<void>{};
}

Task<Result<std::vector<std::string>>> ObjectTexts::nodes(std::vector<std::string> names) {
  const auto is_kept = [this](const std::string& name) { return nodes_.contains(name); };
  // Nodes that existed before an extender needed their texts; from now on the watch keeps them.
  if (!std::ranges::all_of(names, is_kept)) PLIM_CO_CHECK(co_await list_nodes());
  std::vector<std::string> out;
  for (const std::string& name : names)
    if (auto found = nodes_.find(name); found != nodes_.end()) out.push_back(found->second);
  co_return out;
}

}  // namespace plim::sched
