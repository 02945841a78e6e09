// Objects of one kind with optimistic concurrency, and a network that can be slow or lossy.
#pragma once

#include <map>
#include <string>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "kube/testing/stub_client.hpp"

namespace plim::testing {

class ObjectApi {
 public:
  std::map<std::string, json::value> objects;
  int writes = 0;

 private:
  friend class ObjectClient;
  std::int64_t version_ = 0;

  json::value store(const std::string& name, json::value object) {
    make_object(object, {"metadata"})["resourceVersion"] = std::to_string(++version_);
    ++writes;
    return objects[name] = std::move(object);
  }
};

// The network between one replica and the API.
class ObjectClient final : public StubClient {
 public:
  ObjectClient(ObjectApi& api, Clock& clock, Random& random)
      : api_(api), clock_(clock), random_(random) {}

  Nanos max_delay{0};         // random, for each direction
  unsigned loss_percent = 0;  // of requests and of answers
  bool cut_off = false;
  int requests = 0;
  Code answer_with = Code::unknown;  // every call fails with this unless unknown

  Answer<json::value> get(Resource, Path path) override {
    PLIM_CO_CHECK(co_await travel());
    auto found = api_.objects.find(path.name);
    Result<json::value> out = fail(Code::not_found, "no such object");
    if (found != api_.objects.end()) out = found->second;
    PLIM_CO_CHECK(co_await travel());
    co_return out;
  }

  Answer<json::value> create(Resource, Path, json::value object, kube::WriteOptions) override {
    PLIM_CO_CHECK(co_await travel());
    std::string name(text_at(object, {"metadata", "name"}));
    Result<json::value> out = fail(Code::already_exists, "exists");
    if (!api_.objects.contains(name)) out = api_.store(name, std::move(object));
    PLIM_CO_CHECK(co_await travel());
    co_return out;
  }

  Answer<json::value> update(Resource, Path path, json::value object, kube::WriteOptions) override {
    PLIM_CO_CHECK(co_await travel());
    Result<json::value> out = fail(Code::conflict, "changed meanwhile");
    auto found = api_.objects.find(path.name);
    if (found != api_.objects.end() && text_at(found->second, {"metadata", "resourceVersion"}) ==
                                           text_at(object, {"metadata", "resourceVersion"}))
      out = api_.store(path.name, std::move(object));
    PLIM_CO_CHECK(co_await travel());
    co_return out;
  }

  Answer<json::value> patch(Resource, Path path, kube::PatchType, json::value patch,
                            kube::WriteOptions) override {
    PLIM_CO_CHECK(co_await travel());
    auto found = api_.objects.find(path.name);
    if (found == api_.objects.end()) co_return fail(Code::not_found, "no such object");
    json::value object = found->second;
    for (const auto& [key, value] : patch.as_object()) object.as_object()[key] = value;
    co_return api_.store(path.name, std::move(object));
  }

 private:
  Task<Result<void>> travel() {
    ++requests;
    if (max_delay > Nanos::zero())
      co_await clock_.sleep(Nanos(
          static_cast<Nanos::rep>(random_.below(static_cast<std::uint64_t>(max_delay.count())))));
    bool lost = cut_off || random_.below(100) < loss_percent;
    if (lost) co_return fail(Code::unavailable, "lost on the way");
    if (answer_with != Code::unknown) co_return fail(answer_with, "told to");
    co_return Result<void>();
  }

  ObjectApi& api_;
  Clock& clock_;
  Random& random_;
};

}  // namespace plim::testing
