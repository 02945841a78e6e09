#include "images/publisher.hpp"
#include "loop/image_annotation.hpp"

namespace plim::images {
namespace {

class AnnotationPublisher final : public Publisher {
 public:
  AnnotationPublisher(std::shared_ptr<kube::Client> client, std::string node)
      : client_(std::move(client)), node_(std::move(node)) {}

  std::string_view name() const override { return "annotation"; }

  // Every watcher of Nodes is told.
  Nanos shortest_gap() const override { return std::chrono::minutes(1); }

  Task<Result<void>> publish(loop::ImageInventory inventory) override {
    std::string text = loop::annotate_images(inventory);
    if (text == last_) co_return Result<void>();
    json::value patch;
    make_object(patch, {"metadata", "annotations"})[loop::kImagesAnnotation] = text;
    kube::ObjectPath path{.ns = {}, .name = node_};
    auto done = co_await client_->patch(kube::resources::nodes, std::move(path),
                                        kube::PatchType::merge, std::move(patch));
    if (!done) co_return done.error();
    last_ = std::move(text);
    co_return Result<void>();
  }

 private:
  std::shared_ptr<kube::Client> client_;
  std::string node_, last_;
};

}  // namespace

std::unique_ptr<Publisher> publish_to_annotation(std::shared_ptr<kube::Client> client,
                                                 std::string node) {
  return std::make_unique<AnnotationPublisher>(std::move(client), std::move(node));
}

}  // namespace plim::images
