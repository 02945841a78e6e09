#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "images/publisher.hpp"

namespace plim::images {
namespace {

constexpr std::size_t kPutsAtOnce = 100;  // etcd allows 128 operations in a transaction

class EtcdPublisher final : public Publisher {
 public:
  EtcdPublisher(std::shared_ptr<kube::EtcdClient> client, EtcdPlace place)
      : client_(std::move(client)), place_(std::move(place)) {}

  std::string_view name() const override { return "etcd"; }

  Nanos shortest_gap() const override { return std::chrono::seconds(1); }

  Task<Result<void>> publish(loop::ImageInventory inventory) override {
    PLIM_CO_CHECK(co_await hold_lease());
    inventory = loop::fitting_inventory(std::move(inventory));
    PLIM_CO_CHECK(co_await put_layers(inventory.layers));
    std::vector<kube::EtcdPut> puts;
    puts.push_back({.key = kube::image_inventory_key(place_.cluster, place_.node),
                    .value = to_json(loop::inventory_to_json(inventory))});
    co_return co_await client_->put(std::move(puts), lease_);
  }

 private:
  // If the lease has expired, our keys are gone.
  Task<Result<void>> hold_lease() {
    if (lease_ != 0) {
      auto left = co_await client_->keep_lease(lease_);
      if (!left) co_return left.error();
      if (*left > std::chrono::seconds(0)) co_return Result<void>();
      told_.clear();
    }
    PLIM_CO_TRY(lease_, co_await client_->grant_lease(place_.lease));
    co_return Result<void>();
  }

  Task<Result<void>> put_layers(std::vector<loop::ImageInventory::Layer> layers) {
    std::vector<kube::EtcdPut> puts;
    std::vector<std::string> digests;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (!told_.contains(layers[i].digest)) {
        puts.push_back({.key = fmt::format("/plimsoll/layers/v1/{}", layers[i].digest),
                        .value = fmt::format("{}", layers[i].size)});
        digests.push_back(layers[i].digest);
      }
      if (puts.size() < kPutsAtOnce && i + 1 < layers.size()) continue;
      if (puts.empty()) break;
      PLIM_CO_CHECK(co_await client_->put(std::exchange(puts, {}), lease_));
      told_.insert(digests.begin(), digests.end());
      digests.clear();
    }
    co_return Result<void>();
  }

  std::shared_ptr<kube::EtcdClient> client_;
  EtcdPlace place_;
  std::int64_t lease_ = 0;
  std::set<std::string> told_;  // layers whose size is stored
};

}  // namespace

std::unique_ptr<Publisher> publish_to_etcd(std::shared_ptr<kube::EtcdClient> client,
                                           EtcdPlace place) {
  return std::make_unique<EtcdPublisher>(std::move(client), std::move(place));
}

}  // namespace plim::images
