// The trimmed protos must stay on upstream's wire: bytes written down from its field numbers.
#include <gtest/gtest.h>

#include "containerd_content_v1.pb.h"
#include "cri_v1.pb.h"
#include "device_plugin_v1beta1.pb.h"
#include "pod_resources_v1.pb.h"

namespace {

TEST(DevicePluginProto, has_upstreams_numbers) {
  v1beta1::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint("e");
  request.set_resource_name("r");
  request.mutable_options()->set_get_preferred_allocation_available(true);
  EXPECT_EQ(request.SerializeAsString(),
            "\x0a\x07v1beta1\x12\x01"
            "e\x1a\x01r\x22\x02\x10\x01");

  v1beta1::ContainerAllocateResponse response;
  (*response.mutable_envs())["k"] = "v";
  response.add_mounts()->set_read_only(true);
  response.add_cdi_devices()->set_name("c");
  EXPECT_EQ(response.SerializeAsString(),
            "\x0a\x06\x0a\x01k\x12\x01v\x12\x02\x18\x01\x2a\x03\x0a\x01"
            "c");
}

TEST(PodResourcesProto, has_upstreams_numbers) {
  v1::ContainerResources container;
  container.add_cpu_ids(5);
  container.add_memory()->set_size(1);
  container.add_dynamic_resources()->set_claim_name("c");
  EXPECT_EQ(container.SerializeAsString(),
            "\x1a\x01\x05\x22\x02\x10\x01\x2a\x03\x12\x01"
            "c");
}

TEST(CriProto, has_upstreams_numbers) {
  runtime::v1::Image image;
  image.set_id("i");
  image.set_size(300);
  image.mutable_spec()->set_user_specified_image("u");
  image.set_pinned(true);
  EXPECT_EQ(image.SerializeAsString(), "\x0a\x01i\x20\xac\x02\x3a\x04\x92\x01\x01u\x40\x01");

  runtime::v1::Container container;
  container.set_state(runtime::v1::CONTAINER_EXITED);
  container.set_created_at(1);
  (*container.mutable_annotations())["k"] = "v";
  EXPECT_EQ(container.SerializeAsString(), "\x30\x02\x38\x01\x4a\x06\x0a\x01k\x12\x01v");
}

TEST(ContainerdContentProto, has_upstreams_numbers) {
  containerd::services::content::v1::Status status;
  status.mutable_started_at()->set_seconds(1);
  status.set_ref("r");
  status.set_expected("e");
  EXPECT_EQ(status.SerializeAsString(),
            "\x0a\x02\x08\x01\x1a\x01r\x32\x01"
            "e");
}

}  // namespace
