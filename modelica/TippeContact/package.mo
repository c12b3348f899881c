within ;
package TippeContact "Contact of rigid bodies for Modelica's MultiBody library, with the geometry of Tippe"
  extends Modelica.Icons.Package;

  class Collider "Bodies of a scene; it has no time and no memory"
    extends ExternalObject;

    function constructor "Opens a scene"
      extends Modelica.Icons.Function;
      input String scene "Scene: a file, a name of the gallery, or a text of more than one line";
      output Collider collider;
      external "C" collider = TippeContact_open(scene)
        annotation (Include="#include \"TippeContact.h\"", Library="tippe_doors", IncludeDirectory="modelica://TippeContact/Resources/Include");
    end constructor;

    function destructor "Closes it"
      extends Modelica.Icons.Function;
      input Collider collider;
      external "C" TippeContact_close(collider)
        annotation (Include="#include \"TippeContact.h\"", Library="tippe_doors", IncludeDirectory="modelica://TippeContact/Resources/Include");
    end destructor;
  end Collider;

  pure function body "Number of a body by name"
    extends Modelica.Icons.Function;
    input Collider collider;
    input String name;
    output Integer number;
    external "C" number = TippeContact_body(collider, name)
      annotation (Include="#include \"TippeContact.h\"", Library="tippe_doors", IncludeDirectory="modelica://TippeContact/Resources/Include");
  end body;

  pure function points "Contact points of two bodies, the deepest first"
    extends Modelica.Icons.Function;
    input Collider collider;
    input Integer a "Number of body a";
    input Real r_a[3] "Its origin in the world [m]";
    input Real T_a[3, 3] "Turns vectors of the world into its frame";
    input Integer b "Number of body b";
    input Real r_b[3] "Its origin in the world [m]";
    input Real T_b[3, 3] "Turns vectors of the world into its frame";
    input Integer count = 1 "Points at most";
    output Real depth[count] "Depth; minus the distance while apart [m]";
    output Real place[count, 3] "Between both surfaces, in the world [m]";
    output Real normal[count, 3] "Out of a, in the world";
    external "C" TippeContact_points(collider, a, r_a, T_a, b, r_b, T_b, depth, place, normal, size(depth, 1))
      annotation (Include="#include \"TippeContact.h\"", Library="tippe_doors", IncludeDirectory="modelica://TippeContact/Resources/Include");
  end points;

  package Laws "Forces of contact points"
    extends Modelica.Icons.Package;

    partial function Normal "Force that pushes apart"
      extends Modelica.Icons.Function;
      input Real depth "Depth, positive [m]";
      input Real closing "Closing speed [m/s]";
      output Real force "[N]";
    end Normal;

    function hertz "Elastic balls with the damping of Hunt and Crossley (1975): N = K depth^1.5 (1 + d v)"
      extends Normal;
      input Real K = 1e7 "Stiffness 4/3 E* sqrt(R) [N/m^1.5]";
      input Real d = 0 "Damping [s/m]; 3/2 (1 - e)/v for a restitution e near 1 at the speed v";
    algorithm
      force := max(0, K*depth*sqrt(depth)*(1 + d*closing));
    end hertz;

    function balloon "Volume of a cap on a ball, not clamped: Bardaro and others (2017), section 4"
      extends Normal;
      input Real k = 1000 "Stiffness [N/m2]";
      input Real D = 4 "Damper [N s/m]";
      input Real r = 0.5 "Radius of the ball [m]";
    protected
      Real volume = Modelica.Constants.pi*depth^2*(r - depth/3) "Of the cap [m3]";
    algorithm
      force := k*sqrt(volume*depth) + D*closing;
    end balloon;

    partial function Friction "Force along the surfaces, against the slip"
      extends Modelica.Icons.Function;
      input Real N "Normal force [N]";
      input Real slip[3] "Velocity of b over a along the surfaces [m/s]";
      output Real force[3] "On b [N]";
    end Friction;

    function smooth "Coulomb's, smooth near rest: -mu N v/sqrt(v^2 + v_s^2)"
      extends Friction;
      input Real mu = 0.1 "Coefficient";
      input Real v_s = 0.01 "Speed below which it is viscous [m/s]";
    algorithm
      force := -mu*N*slip/sqrt(slip*slip + v_s^2);
    end smooth;
  end Laws;

  model Scene "The shapes of all bodies; one of it stands beside the World, as inner"
    parameter String text "Scene: a file, a name of the gallery, or a text of more than one line";
    Collider collider = Collider(text);
    annotation (defaultComponentName="scene", defaultComponentPrefixes="inner");
  end Scene;

  model PhysicalInteraction "Contact between the bodies of two frames"
    extends Modelica.Mechanics.MultiBody.Interfaces.PartialTwoFrames;
    import Modelica.Mechanics.MultiBody.Frames;
    outer Scene scene;
    parameter String a "Body at frame_a, as the scene calls it";
    parameter String b "Body at frame_b";
    parameter Integer count = 1 "Contact points at most: 1 for round bodies, 4 for boxes";
    replaceable function normalForce = Laws.hertz constrainedby Laws.Normal "Normal law"
      annotation (choicesAllMatching=true);
    replaceable function frictionForce = Laws.smooth constrainedby Laws.Friction "Friction law"
      annotation (choicesAllMatching=true);
    Real depth[count] "Depth; minus the distance while apart [m]";
    Real place[count, 3] "Contact points in the world [m]";
    Real normal[count, 3] "Out of a, in the world";
    Real closing[count] "Closing speeds [m/s]";
    Real force[count, 3] "On b, in the world [N]";
    Boolean touching[count] "The surfaces overlap: a state event where that changes";
    Real lost "Energy that friction has taken [J]";
  protected
    final parameter Integer body_a = body(scene.collider, a);
    final parameter Integer body_b = body(scene.collider, b);
    Real v_a[3] = der(frame_a.r_0);
    Real v_b[3] = der(frame_b.r_0);
    Real w_a[3] = Frames.angularVelocity1(frame_a.R);
    Real w_b[3] = Frames.angularVelocity1(frame_b.R);
    Real v[count, 3] "Velocity of b over a at the points [m/s]";
    Real slip[count, 3];
    Real N[count];
    Real f[3] "On b, in the world [N]";
    Real t_a[3] "About the origin of a [N m]";
    Real t_b[3] "About the origin of b [N m]";
  initial equation
    lost = 0;
  equation
    (depth, place, normal) = points(scene.collider, body_a, frame_a.r_0, frame_a.R.T, body_b, frame_b.r_0, frame_b.R.T, count);
    for k in 1:count loop
      v[k, :] = v_b + cross(w_b, place[k, :] - frame_b.r_0) - v_a - cross(w_a, place[k, :] - frame_a.r_0);
      closing[k] = -v[k, :]*normal[k, :];
      slip[k, :] = v[k, :] + closing[k]*normal[k, :];
      touching[k] = depth[k] > 0;
      N[k] = if touching[k] then normalForce(depth[k], closing[k]) else 0;
      force[k, :] = N[k]*normal[k, :] + (if touching[k] then frictionForce(N[k], slip[k, :]) else zeros(3));
    end for;
    der(lost) = -sum(force[k, :]*slip[k, :] for k in 1:count);
    f = {sum(force[:, i]) for i in 1:3};
    t_a = {sum(cross(place[k, :] - frame_a.r_0, -force[k, :])[i] for k in 1:count) for i in 1:3};
    t_b = {sum(cross(place[k, :] - frame_b.r_0, force[k, :])[i] for k in 1:count) for i in 1:3};
    frame_a.f = Frames.resolve2(frame_a.R, f);
    frame_b.f = -Frames.resolve2(frame_b.R, f);
    frame_a.t = -Frames.resolve2(frame_a.R, t_a);
    frame_b.t = -Frames.resolve2(frame_b.R, t_b);
  end PhysicalInteraction;

  package Examples "Examples"
    extends Modelica.Icons.ExamplesPackage;

    model Balloon "A balloon falls on a floor: Bardaro and others (2017), section 4; it touches at 0.31928 s"
      extends Modelica.Icons.Example;
      inner Modelica.Mechanics.MultiBody.World world(n={0, 0, -1}, g=9.81);
      inner Scene scene(text="balloon_1");
      Modelica.Mechanics.MultiBody.Parts.Body balloon(
        m=1, r_CM={0, 0, 0}, I_11=2/3*0.25, I_22=2/3*0.25, I_33=2/3*0.25, r_0(start={0, 0, 1}, each fixed=true), v_0(each fixed=true));
      PhysicalInteraction contact(a="floor", b="balloon", redeclare function normalForce = Laws.balloon);
    equation
      connect(world.frame_b, contact.frame_a);
      connect(balloon.frame_a, contact.frame_b);
      annotation (experiment(StopTime=3, Tolerance=1e-10));
    end Balloon;

    model BouncingBall "A ball without losses bounces: it comes back to where it was"
      extends Modelica.Icons.Example;
      inner Modelica.Mechanics.MultiBody.World world(n={0, 0, -1}, g=9.81);
      inner Scene scene(text="bouncing_ball");
      Modelica.Mechanics.MultiBody.Parts.Body ball(
        m=1, r_CM={0, 0, 0}, I_11=0.004, I_22=0.004, I_33=0.004, r_0(start={0, 0, 1}, each fixed=true), v_0(each fixed=true));
      PhysicalInteraction contact(a="floor", b="ball", redeclare function normalForce = Laws.hertz(K=1e7));
    equation
      connect(world.frame_b, contact.frame_a);
      connect(ball.frame_a, contact.frame_b);
      annotation (experiment(StopTime=2, Tolerance=1e-8));
    end BouncingBall;

    constant String wall = "format = 1
[world]
gravity = [0, 0, -9.81]
[[body]]
name = \"wall\"
fixed = true
material = \"steel\"
shape = { kind = \"half_space\", normal = [1, 0, 0] }
[[body]]
name = \"bob\"
material = \"steel\"
shape = { kind = \"sphere\", radius = 0.05 }
position = [0.5, 0, 0]
" "A wall at x = 0, and a ball";

    model Pendulum "A pendulum strikes a wall in its lowest position, with v = sqrt(2 g l (1 - cos(phi)))"
      extends Modelica.Icons.Example;
      inner Modelica.Mechanics.MultiBody.World world(n={0, 0, -1}, g=9.81);
      inner Scene scene(text=wall);
      Modelica.Mechanics.MultiBody.Parts.FixedTranslation pivot(r={0.05, 0, 1});
      Modelica.Mechanics.MultiBody.Joints.Revolute hinge(n={0, 1, 0}, phi(start=-1, fixed=true), w(fixed=true));
      Modelica.Mechanics.MultiBody.Parts.FixedTranslation rod(r={0, 0, -1});
      Modelica.Mechanics.MultiBody.Parts.Body bob(m=1, r_CM={0, 0, 0}, I_11=1e-3, I_22=1e-3, I_33=1e-3);
      PhysicalInteraction contact(a="wall", b="bob", redeclare function normalForce = Laws.hertz(K=1e9, d=0.2));
    equation
      connect(world.frame_b, pivot.frame_a);
      connect(pivot.frame_b, hinge.frame_a);
      connect(hinge.frame_b, rod.frame_a);
      connect(rod.frame_b, bob.frame_a);
      connect(world.frame_b, contact.frame_a);
      connect(bob.frame_a, contact.frame_b);
      annotation (experiment(StopTime=3, Tolerance=1e-8));
    end Pendulum;

    model Cradle "Newton's cradle of three balls: the last one leaves with the speed of the first"
      extends Modelica.Icons.Example;
      inner Modelica.Mechanics.MultiBody.World world(n={0, 0, -1}, g=9.81);
      inner Scene scene(text=balls);
      constant String balls = "format = 1
[world]
gravity = [0, 0, -9.81]
[[body]]
name = \"ball_{k}\"
repeat = { k = [1, 3] }
material = \"steel\"
shape = { kind = \"sphere\", radius = 0.05 }
position = [\"0.1*k\", 0, 0]
" "Three balls in a row";
      Modelica.Mechanics.MultiBody.Parts.FixedTranslation pivot[3](r={{0.1*k, 0, 1} for k in 1:3});
      Modelica.Mechanics.MultiBody.Joints.Revolute hinge[3](
        each n={0, 1, 0}, phi(start={0.5, 0, 0}, each fixed=true), w(each fixed=true));
      Modelica.Mechanics.MultiBody.Parts.FixedTranslation rod[3](each r={0, 0, -1});
      Modelica.Mechanics.MultiBody.Parts.Body ball[3](each m=1, each r_CM={0, 0, 0}, each I_11=1e-3, each I_22=1e-3, each I_33=1e-3);
      PhysicalInteraction first(a="ball_1", b="ball_2", redeclare function normalForce = Laws.hertz(K=1e9));
      PhysicalInteraction second(a="ball_2", b="ball_3", redeclare function normalForce = Laws.hertz(K=1e9));
    equation
      for k in 1:3 loop
        connect(world.frame_b, pivot[k].frame_a);
        connect(pivot[k].frame_b, hinge[k].frame_a);
        connect(hinge[k].frame_b, rod[k].frame_a);
        connect(rod[k].frame_b, ball[k].frame_a);
      end for;
      connect(ball[1].frame_a, first.frame_a);
      connect(ball[2].frame_a, first.frame_b);
      connect(ball[2].frame_a, second.frame_a);
      connect(ball[3].frame_a, second.frame_b);
      annotation (experiment(StopTime=3, Tolerance=1e-8));
    end Cradle;
  end Examples;

  annotation (
    version="0.1",
    uses(Modelica(version="4.0.0")),
    Documentation(info="<html><p>Contact geometry of Tippe for Modelica's MultiBody library: docs/howto/modelica.md.</p></html>"));
end TippeContact;
