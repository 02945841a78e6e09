#include "pools/config_maps.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "kube/paths.hpp"

namespace plim::pools {

ConfigMaps::ConfigMaps(const Executor& loop, const std::shared_ptr<kube::Client>& client,
                       const std::vector<std::string>& names, std::function<void()> on_change,
                       Clock& clock) {
  auto decode = [this](kube::JsonText text) -> Result<Entries> {
    Entries out;
    PLIM_TRY(out.meta, kube::decode_meta(text, intern_));
    PLIM_TRY(json::value object, parse_json(text.view()));
    if (const json::value* data = kube::find(object, "ConfigMap.data");
        data != nullptr && data->is_object())
      for (const auto& [key, value] : data->get_object())
        if (value.is_string() && is_config_name(key))
          out.data[std::string(key)] = std::string(value.get_string());
    return out;
  };
  for (const std::string& name : names) {
    const auto [ns, map] = cut(name, '/');
    kube::ReflectorOptions options;
    options.ns = ns;
    options.field_selector = fmt::format("metadata.name={}", map);
    options.backoff = {
        .first = std::chrono::milliseconds(200), .limit = std::chrono::seconds(10), .jitter = 0.2};
    auto informer = std::make_unique<kube::Informer<Entries>>(
        loop, client, kube::resources::config_maps, kube::codec_of<Entries>(decode),
        std::move(options), clock);
    informer->add_handlers({.on_add = [on_change](const auto&) { on_change(); },
                            .on_update = [on_change](const auto&, const auto&) { on_change(); },
                            .on_delete = [on_change](const auto&) { on_change(); },
                            .on_synced = on_change});
    informers_.push_back(std::move(informer));
  }
}

void ConfigMaps::start() {
  for (const auto& informer : informers_) informer->start();
}

Task<void> ConfigMaps::stop() {
  for (const auto& informer : informers_) co_await informer->stop();
}

bool ConfigMaps::synced() const {
  return std::ranges::all_of(informers_, [](const auto& informer) { return informer->synced(); });
}

Task<void> ConfigMaps::wait_synced() {
  for (const auto& informer : informers_) co_await informer->wait_synced();
}

std::vector<ConfigText> ConfigMaps::texts() const {
  std::vector<ConfigText> out;
  for (const auto& informer : informers_)
    for (const auto& [name, object] : informer->store())
      for (const auto& [key, text] : object->data)
        out.push_back({fmt::format("configmap {}[{}]", name, key), text});
  return out;
}

}  // namespace plim::pools
