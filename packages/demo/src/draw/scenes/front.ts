import { wordOf } from '../facts.ts';
import type { SceneContext } from '../look.ts';
import { drawConifer, drawGround, drawHorizon, drawSky, drawTree } from '../outdoors.ts';
import { drawBarn, drawCommercial, drawFlats, drawPlex, drawTownhouses } from './blocks.ts';
import { BASE, drawCabin, drawHouse } from './house.ts';

const HORIZON = 545;

function drawBuilding(scene: SceneContext): string {
  const type = wordOf(scene.listing, 'PropertyType');
  const subType = wordOf(scene.listing, 'PropertySubType');
  if (type === 'Commercial Sale') return drawCommercial(scene);
  switch (subType) {
    case 'Townhouse':
      return drawTownhouses(scene);
    case 'Condominium':
    case 'Apartment':
    case 'Multi Family':
      return drawFlats(scene);
    case 'Duplex':
    case 'Triplex':
    case 'Quadruplex':
      return drawPlex(scene);
    case 'Cabin':
      return drawCabin(scene);
    case 'Farm':
      return drawBarn() + drawHouse(scene);
    default:
      return drawHouse(scene);
  }
}

/** The building from the street. */
export function drawFront(scene: SceneContext): string {
  const { random } = scene;
  const plant = random.chance(0.35) ? drawConifer : drawTree;
  return [
    drawSky(scene, HORIZON),
    drawHorizon(scene, HORIZON + 4, 90),
    drawGround(scene, HORIZON),
    drawTree(scene, random.between(120, 260), HORIZON + 20, random.between(240, 330)),
    drawTree(scene, random.between(930, 1090), HORIZON + 16, random.between(220, 300)),
    drawBuilding(scene),
    plant(
      scene,
      random.chance(0.5) ? random.between(0, 90) : random.between(1110, 1190),
      BASE + 110,
      random.between(280, 380),
    ),
  ].join('');
}
