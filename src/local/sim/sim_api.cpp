#include "local/sim/sim_api.hpp"

#include <utility>

#include "kube/requests.hpp"
#include "kube/status.hpp"

namespace plim::local::sim {

kube::ObjectPath path_of(const kube::ObjectMeta& meta) {
  return {.ns = std::string(meta.ns.view()), .name = meta.name};
}

Task<Result<json::value>> SimApi::get(const kube::Resource& resource,
                                      const kube::ObjectMeta& meta) {
  return client_->get(resource, path_of(meta));
}

Task<bool> SimApi::serves(kube::Resource resource) {
  kube::ListOptions one{.limit = 1};
  auto listed = co_await client_->list_page(std::move(resource), std::move(one));
  co_return listed.has_value();
}

Task<Result<void>> SimApi::create(const kube::Resource& resource, const kube::ObjectPath& path,
                                  const json::value& object) {
  return send(kube::create_request(resource, path, object, kube::kWriteDefaults), nullptr);
}

Task<Result<void>> SimApi::patch(const kube::Resource& resource, const kube::ObjectPath& path,
                                 const json::value& patch) {
  return send(
      kube::patch_request(resource, path, kube::PatchType::merge, patch, kube::kWriteDefaults),
      nullptr);
}

Task<Result<void>> SimApi::patch_status(const kube::Resource& resource, kube::ObjectPath path,
                                        const json::value& patch) {
  path.subresource = "status";
  return send(
      kube::patch_request(resource, path, kube::PatchType::merge, patch, kube::kWriteDefaults),
      &stats_.patches);
}

Task<Result<void>> SimApi::remove(const kube::Resource& resource, const kube::ObjectMeta& meta) {
  const kube::DeleteOptions how{.grace_seconds = 0, .uid = meta.uid};
  return send(kube::delete_request(resource, path_of(meta), how), &stats_.removed);
}

Task<Result<void>> SimApi::send(Result<net::Request> request, std::uint64_t* counter) {
  static const net::CallOptions kAsUsual;
  if (!request) co_return std::move(request).error();
  PLIM_CO_TRY(net::Response answer, co_await client_->raw(std::move(*request), kAsUsual));
  if (answer.status / 100 != 2)
    co_return kube::error_from_answer(answer.status, answer.headers, answer.body);
  if (counter != nullptr) ++*counter;
  co_return Result<void>();
}

}  // namespace plim::local::sim
